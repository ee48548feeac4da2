#include "hqmm/engine/cuda/large_pass.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "hqmm/engine/cuda/large_kernels.cuh"
#include "hqmm/engine/cuda/segments.hpp"
#include "hqmm/engine/cuda/sums.cuh"

namespace hqmm::detail {
namespace {

constexpr unsigned kSmallThreads = 256;
constexpr std::size_t kRowSumShares = 16;
/// Lanes are shares of the sequences that go their way independently: while one lane's last blocks
/// of a kernel are at work, those of others fill the GPU.
constexpr std::size_t kLanes = 4;
/// Blocks of a gradient's kernel that keep the GPU busy.
constexpr std::size_t kEnoughBlocks = 132;

/// The mark before every step of the program, or −1; the one after a sequence's last step is found
/// through the sequence.
std::vector<std::int32_t> marks_by_step(const DeviceBatch& batch) {
  std::vector<std::int32_t> out(batch.steps.size(), -1);
  for (const DeviceSequence& s : batch.sequences)
    for (std::uint64_t m = s.first_mark; m < s.first_mark + s.marks; ++m)
      if (batch.marks[m].step < s.length)
        out[s.first_step + batch.marks[m].step] = static_cast<std::int32_t>(m);
  return out;
}

/// Whether anything happens before step t: [t], one more after the last.
std::vector<char> events(const DeviceBatch& batch, std::uint32_t longest, std::size_t pace) {
  std::vector<char> out(std::size_t{longest} + 1, 0);
  for (std::size_t t = pace; t <= longest; t += pace) out[t] = 1;
  for (const DeviceMark& mark : batch.marks) out[mark.step] = 1;
  for (const DeviceSequence& s : batch.sequences) out[s.length] = 1;
  return out;
}

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  /// What is asked of this stream from now on waits for all that was asked of the other one.
  void wait_for(const Stream& other) const {
    check(cudaEventRecord(other.event_, other.stream_), "waiting");
    check(cudaStreamWaitEvent(stream_, other.event_, 0), "waiting");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

/// The kernels of a field and a size of blocks.
struct LargeKernels {
  using OfStep = void (*)(LargeArguments, std::uint32_t);
  int block = 0, bytes = 0;
  OfStep half_forward, forward, half_backward, backward;
  void (*gradient)(LargeArguments, std::uint32_t, std::uint32_t);
};

template <bool kComplex, int kBlock>
LargeKernels make_kernels() {
  using Block = BlockProduct<kComplex, kBlock>;
  const LargeKernels out{kBlock,
                         Block::kBytes,
                         half_forward_kernel<Block>,
                         forward_step_kernel<Block>,
                         half_backward_kernel<Block>,
                         backward_step_kernel<Block>,
                         gradient_kernel<Block>};
  const auto allow = [](auto kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kBytes),
          "asking for shared memory");
  };
  allow(out.half_forward);
  allow(out.forward);
  allow(out.half_backward);
  allow(out.backward);
  allow(out.gradient);
  return out;
}

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

LargeKernels kernels_for(const MatrixModel& model) {
  const auto n = static_cast<std::size_t>(model.n);
  if (!model.real) return make_kernels<true, 64>();
  return rounded_up(n, 96) <= rounded_up(n, 64) ? make_kernels<false, 96>()
                                                : make_kernels<false, 64>();
}

/// What does not change from lane to lane.
struct LargePlan {
  LargeKernels kernels{};
  const DeviceBatch* batch = nullptr;
  std::vector<char> event;
  std::size_t segment_steps = 0;
  bool backward = true;
  std::size_t operators = 0;
};

/// Some of the sequences on a stream of their own.
class Lane {
 public:
  LargeArguments a{};
  std::size_t first = 0;  // of the batch's sequences
  double *carried = nullptr, *checkpoints = nullptr;
  double* by_emission = nullptr;  // sums of row sums, if there are any
  Stream stream;

  void save(std::size_t segment) {
    copy(carried, numbers(), checkpoints + segment * numbers(), stream.get());
  }
  void restore(std::size_t segment) {
    copy(checkpoints + segment * numbers(), numbers(), carried, stream.get());
  }

  /// Forward over the steps of a segment, one call each.
  void begin_walk(std::size_t begin, bool keep, bool count_marks) {
    a.begin = static_cast<std::uint32_t>(begin);
    a.keep = keep;
    a.count_marks = count_marks;
    copy(carried, numbers(), slot(begin), stream.get());
  }
  void step(const LargePlan& plan, std::uint32_t t) {
    const std::uint32_t now = active(plan, t);
    if (plan.event[t] != 0) between_steps(t);
    if (now == 0) return;
    launch_products(plan, plan.kernels.half_forward, whole(), a.most_count, now, t);
    launch_products(plan, plan.kernels.forward, lower(), 1, now, t);
  }
  void end_walk(std::size_t end, bool last) {
    // what comes before the next step is the next segment's, but for the sequences that are through
    if (last) between_steps(static_cast<std::uint32_t>(end));
    copy(slot(end), numbers(), carried, stream.get());
  }

  /// Backward.
  void begin_walk_back(const LargePlan& plan) {
    if (by_emission == nullptr) return;
    const std::size_t sums =
        (plan.segment_steps + 1) * a.sequence_count * static_cast<std::size_t>(a.blocks * a.side);
    check(cudaMemsetAsync(a.by_emission, 0, sums * sizeof(double), stream.get()),
          "clearing memory");
  }
  void step_back(const LargePlan& plan, std::uint32_t t) {
    const std::uint32_t later = active(plan, t + 1), now = active(plan, t);
    if (now == 0) return;
    if (later < now) launch(start_adjoints_kernel, a.sequence_count, kSmallThreads, 0, t);
    launch_products(plan, plan.kernels.half_backward, whole(), a.most_count, now, t);
    launch_products(plan, plan.kernels.gradient, whole(), a.matrix_count,
                    static_cast<std::size_t>(a.shares), t, now);
    launch_products(plan, plan.kernels.backward, lower(), 1, now, t);
  }
  void end_walk_back(const LargePlan& plan, std::size_t end) {
    if (by_emission == nullptr) return;
    launch(add_row_sums_kernel,
           dim3(static_cast<unsigned>(plan.operators), static_cast<unsigned>(kRowSumShares)),
           kSmallThreads, 0, static_cast<std::uint32_t>(end), by_emission, plan.operators);
  }

 private:
  [[nodiscard]] std::size_t numbers() const { return a.sequence_count * a.state; }
  [[nodiscard]] double* slot(std::size_t t) const {
    return a.history + (a.keep ? t - a.begin : t % 2) * numbers();
  }
  [[nodiscard]] int whole() const { return a.blocks * a.blocks; }
  [[nodiscard]] int lower() const { return a.blocks * (a.blocks + 1) / 2; }

  /// Sequences longer than t: they come first.
  std::uint32_t active(const LargePlan& plan, std::size_t t) {
    const DeviceSequence* mine = plan.batch->sequences.data() + first;
    active_ = std::min(active_, a.sequence_count);
    while (active_ > 0 && mine[active_ - 1].length <= t) --active_;
    while (active_ < a.sequence_count && mine[active_].length > t) ++active_;
    return active_;
  }

  void between_steps(std::uint32_t t) {
    launch(between_steps_kernel, a.sequence_count, kSmallThreads, 0, t);
  }
  template <typename Kernel, typename... More>
  void launch(Kernel kernel, dim3 blocks, unsigned threads, int bytes, More... more) {
    kernel<<<blocks, threads, static_cast<std::size_t>(bytes), stream.get()>>>(a, more...);
    check(cudaGetLastError(), "starting a kernel");
  }
  template <typename Kernel, typename... More>
  void launch_products(const LargePlan& plan, Kernel kernel, int blocks, std::size_t matrices,
                       std::size_t deep, More... more) {
    launch(kernel,
           dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(matrices),
                static_cast<unsigned>(deep)),
           kBlockThreads, plan.kernels.bytes, more...);
  }

  std::uint32_t active_ = 0;
};

/// All steps of some sequences, the lanes side by side.
void walk(const LargePlan& plan, std::span<Lane> lanes, std::size_t segment, std::size_t steps,
          bool keep, bool count_marks) {
  const std::size_t begin = segment * plan.segment_steps;
  const std::size_t end = std::min(begin + plan.segment_steps, steps);
  for (Lane& lane : lanes) lane.begin_walk(begin, keep, count_marks);
  for (std::size_t t = begin; t < end; ++t)
    for (Lane& lane : lanes) lane.step(plan, static_cast<std::uint32_t>(t));
  for (Lane& lane : lanes) lane.end_walk(end, end == steps);
}

void walk_back(const LargePlan& plan, std::span<Lane> lanes, std::size_t segment,
               std::size_t steps) {
  const std::size_t begin = segment * plan.segment_steps;
  const std::size_t end = std::min(begin + plan.segment_steps, steps);
  for (Lane& lane : lanes) lane.begin_walk_back(plan);
  for (std::size_t t = end; t-- > begin;)
    for (Lane& lane : lanes) lane.step_back(plan, static_cast<std::uint32_t>(t));
  for (Lane& lane : lanes) lane.end_walk_back(plan, end);
}

void run_lanes(const LargePlan& plan, std::span<Lane> lanes, std::size_t steps) {
  const std::size_t segments =
      std::max<std::size_t>(1, (steps + plan.segment_steps - 1) / plan.segment_steps);
  for (std::size_t segment = 0; segment < segments; ++segment) {
    if (segments > 1 && plan.backward)
      for (Lane& lane : lanes) lane.save(segment);
    walk(plan, lanes, segment, steps, plan.backward && segment + 1 == segments, true);
  }
  if (!plan.backward) return;
  for (std::size_t segment = segments; segment-- > 0;) {
    if (segment + 1 < segments) {
      for (Lane& lane : lanes) lane.restore(segment);
      walk(plan, lanes, segment, steps, true, false);
    }
    walk_back(plan, lanes, segment, steps);
  }
}

}  // namespace

struct LargePass::Contents {
  Stream stream;
  std::array<Lane, kLanes> lanes;
  DeviceArray<double> matrices, emission, initial_state;
  DeviceArray<std::uint32_t> first, count, steps;
  DeviceArray<std::int32_t> mark_at;
  DeviceArray<DeviceSequence> sequences;
  DeviceArray<DeviceMark> marks;
  DeviceArray<double> history, carried, checkpoints, products, adjoints, powers, slopes;
  DeviceArray<double> log_likelihoods, row_sums, gradients, by_emission, initial, sums;
  DeviceArray<int> exponents;
  DeviceArray<unsigned long long> failure;
  DeviceArray<char> suspects;
  DeviceArray<double> watched;
};

LargePass::LargePass() : contents_(std::make_unique<Contents>()) {}
LargePass::~LargePass() = default;

void LargePass::run(const MatrixModel& model, const DeviceBatch& batch,
                    const MatrixOptions& options, MatrixResult& out) {
  Contents& c = *contents_;
  const cudaStream_t stream = c.stream.get();
  LargePlan plan;
  plan.kernels = kernels_for(model);
  plan.batch = &batch;
  const std::size_t side =
      rounded_up(static_cast<std::size_t>(model.n), static_cast<std::size_t>(plan.kernels.block));
  const std::size_t state = side * side * (model.real ? 1 : 2);
  const std::size_t sequences = batch.sequences.size();
  const std::uint32_t longest = sequences == 0 ? 0 : batch.sequences[0].length;
  const std::size_t operators = model.first.size();
  const std::vector<double> matrices = padded(model, model.matrices, side);
  const std::vector<double> initial = padded(model, model.initial, side);
  const std::vector<double> emission = padded_rows_of(model, side);
  const std::vector<std::int32_t> mark_at = marks_by_step(batch);
  plan.event = events(batch, longest, options.pace);
  if (options.suspect_below > 0.0) std::fill(plan.event.begin(), plan.event.end(), 1);
  const std::vector<double> ones(sequences, 1.0);
  plan.backward = options.backward;
  plan.operators = operators;

  LargeArguments a{};
  a.n = model.n;
  a.side = static_cast<int>(side);
  a.blocks = a.side / plan.kernels.block;
  a.state = state;
  a.most_count =
      model.count.empty() ? 1 : *std::max_element(model.count.begin(), model.count.end());
  a.matrix_count = model.matrix_count();
  // enough blocks to fill the GPU, unless their gradients took a quarter of the memory
  const std::size_t gradient_bytes = a.matrix_count * state * sizeof(double);
  const std::size_t blocks_each = static_cast<std::size_t>(a.blocks * a.blocks) * a.matrix_count;
  const std::size_t shares = std::clamp<std::size_t>(
      std::min(kEnoughBlocks / blocks_each, options.memory / 4 / kLanes / gradient_bytes), 1,
      std::max<std::size_t>(1, sequences));
  a.shares = static_cast<int>(shares);
  const Segments cut = cut_segments({.sequences = std::min<std::size_t>(sequences, 65535),
                                     .together = 32,
                                     .longest = longest,
                                     .pace = options.pace,
                                     .state_bytes = state * sizeof(double),
                                     .memory = options.memory / 2,
                                     .fixed = 5 + a.most_count,
                                     .backward = options.backward});
  plan.segment_steps = cut.steps;

  a.matrices = c.matrices.upload(matrices, stream);
  a.first = c.first.upload(model.first, stream);
  a.count = c.count.upload(model.count, stream);
  a.steps = c.steps.upload(batch.steps.data(), batch.steps.size(), stream);
  a.mark_at = c.mark_at.upload(mark_at, stream);
  a.emission = emission.empty() ? nullptr : c.emission.upload(emission, stream);
  a.sequences = c.sequences.upload(batch.sequences, stream);
  c.marks.reserve(batch.marks.size() + 1);
  a.marks = c.marks.upload(batch.marks, stream);
  c.initial_state.upload(initial, stream);
  a.slopes = c.slopes.reserve(batch.marks.size() + 1);
  a.powers_each = longest / options.pace + 1;
  a.powers = c.powers.reserve(sequences * a.powers_each);
  a.exponents = c.exponents.clear(sequences, stream);
  a.log_likelihoods = c.log_likelihoods.clear(sequences, stream);
  a.suspects = c.suspects.clear(sequences, stream);
  a.suspect_below = options.suspect_below;
  if (options.suspect_below > 0.0) a.watched = c.watched.upload(ones, stream);
  a.failure = c.failure.reserve(1);
  check(cudaMemsetAsync(a.failure, 0xFF, sizeof(unsigned long long), stream), "clearing memory");
  a.pace = static_cast<std::uint32_t>(options.pace);
  const std::size_t slots = options.backward ? cut.steps + 1 : 2;
  const std::size_t segments = longest == 0 ? 1 : (longest + cut.steps - 1) / cut.steps;
  const std::size_t row_sums_each =
      emission.empty() ? 0 : (cut.steps + 1) * static_cast<std::size_t>(a.blocks) * side;
  const std::size_t by_emission = emission.empty() ? 0 : operators * side;
  a.history = c.history.reserve(slots * cut.sequences * state);
  a.products = c.products.reserve(cut.sequences * a.most_count * state);
  double* carried = c.carried.reserve(cut.sequences * state);
  if (options.backward) {
    if (segments > 1) c.checkpoints.reserve(segments * cut.sequences * state);
    a.adjoints = c.adjoints.reserve(cut.sequences * state);
    a.by_emission = c.row_sums.reserve(cut.sequences * row_sums_each);
    a.gradients = c.gradients.clear(kLanes * shares * a.matrix_count * state, stream);
    c.by_emission.clear(kLanes * kRowSumShares * by_emission, stream);
    c.initial.clear(state, stream);
    c.sums.reserve(a.matrix_count * state + by_emission + state);
  }

  for (std::size_t part = 0; part < sequences; part += cut.sequences) {
    const std::size_t count = std::min(cut.sequences, sequences - part);
    repeat(c.initial_state.data(), state, count, carried, stream);
    if (options.backward)
      check(cudaMemsetAsync(a.adjoints, 0, count * state * sizeof(double), stream),
            "clearing memory");
    const std::size_t lanes = std::min(kLanes, count);
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::size_t begin = count * i / lanes, end = count * (i + 1) / lanes;
      Lane& lane = c.lanes[i];
      lane.first = part + begin;
      lane.a = a;
      lane.a.sequences = a.sequences + lane.first;
      lane.a.sequence_count = static_cast<std::uint32_t>(end - begin);
      lane.a.log_likelihoods += lane.first;
      lane.a.exponents += lane.first;
      lane.a.suspects += lane.first;
      if (lane.a.watched != nullptr) lane.a.watched += lane.first;
      lane.a.powers += lane.first * a.powers_each;
      lane.a.history += begin * slots * state;
      lane.a.products += begin * a.most_count * state;
      lane.carried = carried + begin * state;
      if (options.backward) {
        lane.checkpoints = segments > 1 ? c.checkpoints.data() + begin * segments * state : nullptr;
        lane.a.adjoints += begin * state;
        lane.a.by_emission += begin * row_sums_each;
        lane.a.gradients += i * shares * a.matrix_count * state;
        lane.by_emission =
            by_emission == 0 ? nullptr : c.by_emission.data() + i * kRowSumShares * by_emission;
      }
      lane.stream.wait_for(c.stream);
    }
    run_lanes(plan, std::span(c.lanes).first(lanes), batch.sequences[part].length);
    for (std::size_t i = 0; i < lanes; ++i) c.stream.wait_for(c.lanes[i].stream);
    if (!options.backward) continue;
    sum_slots(a.adjoints, count, state, c.sums.data(), stream);
    add(c.sums.data(), state, c.initial.data(), stream);
  }

  std::vector<double> found(sequences);
  std::vector<char> suspects(sequences);
  c.suspects.download(suspects.data(), sequences, stream);
  c.log_likelihoods.download(found.data(), sequences, stream);
  unsigned long long failure = 0;
  c.failure.download(&failure, 1, stream);
  if (options.backward) {
    const std::size_t by_matrix = a.matrix_count * state;
    double* sums = c.sums.data();
    sum_slots(a.gradients, kLanes * shares, by_matrix, sums, stream);
    if (by_emission > 0)
      sum_slots(c.by_emission.data(), kLanes * kRowSumShares, by_emission, sums + by_matrix,
                stream);
    std::vector<double> all(by_matrix + by_emission + state);
    c.sums.download(all.data(), by_matrix + by_emission, stream);
    c.initial.download(all.data() + by_matrix + by_emission, state, stream);
    check(cudaStreamSynchronize(stream), "walking a batch");
    out.gradients = unpadded(model, {all.data(), by_matrix}, side);
    out.by_emission = unpadded_rows_of(model, {all.data() + by_matrix, by_emission}, side);
    out.initial = unpadded(model, {all.data() + by_matrix + by_emission, state}, side);
  } else {
    check(cudaStreamSynchronize(stream), "walking a batch");
  }
  take_in(batch, found, suspects, out);
  note_failure(failure, out);
}

}  // namespace hqmm::detail
