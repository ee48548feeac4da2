#include "hqmm/engine/cuda/tile_pass.hpp"

#include <algorithm>

#include "hqmm/engine/cuda/segments.hpp"
#include "hqmm/engine/cuda/sums.cuh"
#include "hqmm/engine/cuda/tile_kernels.cuh"

namespace hqmm::detail {
namespace {

using Kernel = void (*)(TileArguments);

/// The kernels of one size, and how they are launched.
struct TileShape {
  int side = 0, threads = 0, forward_bytes = 0, backward_bytes = 0;
  Kernel forward = nullptr, backward = nullptr;
};

template <int kSide, bool kComplex, int kColumns>
TileShape shape() {
  using T = Tile<kSide, kComplex, kColumns>;
  return {kSide,
          T::kThreads,
          T::kForwardBytes,
          T::kBackwardBytes,
          forward_kernel<T>,
          backward_kernel<T>};
}

TileShape shape_of(const MatrixModel& model) {
  if (model.real) {
    if (model.n <= 16) return shape<16, false, 16>();
    if (model.n <= 32) return shape<32, false, 16>();
    if (model.n <= 48) return shape<48, false, 24>();
    if (model.n <= 64) return shape<64, false, 32>();
    return shape<80, false, 40>();
  }
  if (model.n <= 16) return shape<16, true, 16>();
  if (model.n <= 32) return shape<32, true, 16>();
  if (model.n <= 48) return shape<48, true, 24>();
  return shape<64, true, 32>();
}

/// Blocks of a kernel that the GPU holds at once.
int resident_blocks(Kernel kernel, int threads, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "asking for shared memory");
  int each = 0, device = 0, processors = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads,
                                                      static_cast<std::size_t>(bytes)),
        "asking for room");
  check(cudaGetDevice(&device), "asking for the GPU");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "asking for the GPU");
  return std::max(1, each) * processors;
}

}  // namespace

struct TilePass::Contents {
  cudaStream_t stream = nullptr;
  DeviceArray<double> matrices, emission, initial_state;
  DeviceArray<std::uint32_t> first, count, steps;
  DeviceArray<DeviceSequence> sequences;
  DeviceArray<DeviceMark> marks;
  DeviceArray<double> history, carried, checkpoints, adjoints, powers, log_likelihoods;
  DeviceArray<int> exponents;
  DeviceArray<double> gradients, by_emission, initial, sums;
  DeviceArray<unsigned long long> failure;
  DeviceArray<char> suspects;

  Contents() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() { cudaStreamDestroy(stream); }
};

TilePass::TilePass() : contents_(std::make_unique<Contents>()) {}
TilePass::~TilePass() = default;

void TilePass::run(const MatrixModel& model, const DeviceBatch& batch, const MatrixOptions& options,
                   MatrixResult& out) {
  Contents& c = *contents_;
  const TileShape shape = shape_of(model);
  const std::size_t side = static_cast<std::size_t>(shape.side);
  const std::size_t state = side * side * (model.real ? 1 : 2);
  const std::size_t sequences = batch.sequences.size();
  const std::size_t longest = sequences == 0 ? 0 : batch.sequences[0].length;
  const std::vector<double> matrices = padded(model, model.matrices, side);
  const std::vector<double> initial = padded(model, model.initial, side);
  const std::vector<double> emission = padded_rows_of(model, side);
  const std::size_t operators = model.first.size();

  const auto most_slots = [&](Kernel kernel, int bytes) {
    return static_cast<std::size_t>(resident_blocks(kernel, shape.threads, bytes));
  };
  // every block adds up gradients of its own: no more of them than an eighth of the memory holds
  const std::size_t own = (model.matrix_count() + 1) * state * sizeof(double);
  const std::size_t slots =
      std::clamp<std::size_t>(options.memory / 8 / own, 1,
                              std::min(std::max<std::size_t>(1, sequences),
                                       most_slots(shape.backward, shape.backward_bytes)));
  const std::size_t forward_slots =
      std::min(std::max<std::size_t>(1, sequences), most_slots(shape.forward, shape.forward_bytes));
  const Segments cut = cut_segments({.sequences = sequences,
                                     .together = std::max(slots, forward_slots),
                                     .longest = longest,
                                     .pace = options.pace,
                                     .state_bytes = state * sizeof(double),
                                     .memory = options.memory - options.memory / 4,
                                     .backward = options.backward});

  TileArguments a{};
  a.matrices = c.matrices.upload(matrices, c.stream);
  a.first = c.first.upload(model.first, c.stream);
  a.count = c.count.upload(model.count, c.stream);
  a.steps = c.steps.upload(batch.steps.data(), batch.steps.size(), c.stream);
  a.emission = emission.empty() ? nullptr : c.emission.upload(emission, c.stream);
  a.sequences = c.sequences.upload(batch.sequences, c.stream);
  c.marks.reserve(batch.marks.size() + 1);
  a.marks = c.marks.upload(batch.marks, c.stream);
  c.initial_state.upload(initial, c.stream);
  a.powers_each = longest / options.pace + 1;
  a.powers = c.powers.reserve(sequences * a.powers_each);
  a.exponents = c.exponents.clear(sequences, c.stream);
  a.log_likelihoods = c.log_likelihoods.clear(sequences, c.stream);
  a.suspects = c.suspects.clear(sequences, c.stream);
  a.suspect_below = options.suspect_below;
  a.failure = c.failure.reserve(1);
  check(cudaMemsetAsync(a.failure, 0xFF, sizeof(unsigned long long), c.stream), "clearing memory");
  a.matrix_count = model.matrix_count();
  a.operators = operators;
  a.pace = static_cast<std::uint32_t>(options.pace);
  a.carried = c.carried.reserve(cut.sequences * state);
  if (options.backward) {
    a.history = c.history.reserve(cut.sequences * cut.steps * state);
    a.adjoints = c.adjoints.reserve(cut.sequences * state);
    a.gradients = c.gradients.clear(slots * a.matrix_count * state, c.stream);
    a.by_emission = c.by_emission.clear(emission.empty() ? 0 : slots * operators * side, c.stream);
    a.initial = c.initial.clear(slots * state, c.stream);
  }

  const auto launch = [&](Kernel kernel, std::size_t blocks, int bytes) {
    kernel<<<static_cast<unsigned>(blocks), shape.threads, bytes, c.stream>>>(a);
    check(cudaGetLastError(), "starting a kernel");
  };
  for (std::size_t part = 0; part < sequences; part += cut.sequences) {
    a.first_sequence = static_cast<std::uint32_t>(part);
    a.sequence_count = static_cast<std::uint32_t>(std::min(cut.sequences, sequences - part));
    const std::size_t steps = batch.sequences[part].length;
    const std::size_t segments = std::max<std::size_t>(1, (steps + cut.steps - 1) / cut.steps);
    double* carried = a.carried;
    repeat(c.initial_state.data(), state, a.sequence_count, carried, c.stream);
    const std::size_t numbers = a.sequence_count * state;
    double* checkpoints =
        segments > 1 ? c.checkpoints.reserve(segments * cut.sequences * state) : nullptr;
    const auto set_segment = [&](std::size_t segment) {
      a.begin = static_cast<std::uint32_t>(segment * cut.steps);
      a.end = static_cast<std::uint32_t>(std::min((segment + 1) * cut.steps, steps));
    };
    for (std::size_t segment = 0; segment < segments; ++segment) {
      set_segment(segment);
      a.count_marks = true;
      a.keep = options.backward && segment + 1 == segments;
      if (segments > 1 && options.backward)
        copy(carried, numbers, checkpoints + segment * numbers, c.stream);
      launch(shape.forward, std::min<std::size_t>(forward_slots, a.sequence_count),
             shape.forward_bytes);
    }
    if (!options.backward) continue;
    for (std::size_t segment = segments; segment-- > 0;) {
      set_segment(segment);
      if (segment + 1 < segments) {
        copy_unfinished(a.sequences + part, a.sequence_count, a.begin, state,
                        checkpoints + segment * numbers, carried, c.stream);
        a.count_marks = false;
        a.keep = true;
        launch(shape.forward, std::min<std::size_t>(forward_slots, a.sequence_count),
               shape.forward_bytes);
      }
      launch(shape.backward, slots, shape.backward_bytes);
    }
  }

  std::vector<double> found(sequences);
  std::vector<char> suspects(sequences);
  c.suspects.download(suspects.data(), sequences, c.stream);
  c.log_likelihoods.download(found.data(), sequences, c.stream);
  unsigned long long failure = 0;
  c.failure.download(&failure, 1, c.stream);
  if (options.backward) {
    const std::size_t by_matrix = a.matrix_count * state;
    const std::size_t by_emission = emission.empty() ? 0 : operators * side;
    double* sums = c.sums.reserve(by_matrix + by_emission + state);
    sum_slots(a.gradients, slots, by_matrix, sums, c.stream);
    if (by_emission > 0) sum_slots(a.by_emission, slots, by_emission, sums + by_matrix, c.stream);
    sum_slots(a.initial, slots, state, sums + by_matrix + by_emission, c.stream);
    std::vector<double> all(by_matrix + by_emission + state);
    c.sums.download(all.data(), all.size(), c.stream);
    check(cudaStreamSynchronize(c.stream), "walking a batch");
    out.gradients = unpadded(model, {all.data(), by_matrix}, side);
    out.by_emission = unpadded_rows_of(model, {all.data() + by_matrix, by_emission}, side);
    out.initial = unpadded(model, {all.data() + by_matrix + by_emission, state}, side);
  } else {
    check(cudaStreamSynchronize(c.stream), "walking a batch");
  }
  take_in(batch, found, suspects, out);
  note_failure(failure, out);
}

}  // namespace hqmm::detail
