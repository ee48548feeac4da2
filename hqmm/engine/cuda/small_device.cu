#include "hqmm/engine/cuda/small_device.hpp"

#include <algorithm>
#include <cstring>

#include "hqmm/engine/cuda/pinned.cuh"
#include "hqmm/engine/cuda/small_kernels.cuh"

namespace hqmm::detail {
namespace {

std::size_t operators_of(const SmallInput& input) { return input.sets * (input.symbols + 1); }

std::uint32_t saturated(std::size_t value) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(value, 0xFFFFFFFF));
}

}  // namespace

SmallRoom small_room(const SmallInput& input, std::size_t memory) {
  const std::size_t state = small_shape(input.rows).size() * sizeof(double);
  constexpr std::size_t kOp = sizeof(std::uint32_t);
  if (!input.backward) return {memory, kOp, 0};
  const std::size_t powers = (sizeof(double) + input.pace - 1) / input.pace;
  if (sums_on_the_way(small_shape(input.rows), operators_of(input)))
    return {memory, state + kOp + powers, state};
  // state and adjoint; the operator, the numbers, both sorted, and as much for the sort; the powers
  return {memory, 2 * state + 6 * kOp + powers, state};
}

struct SmallDevice::Contents {
  cudaStream_t stream = nullptr;
  PinnedMemory up, down, down_details, staged;
  DeviceArray<unsigned char> inputs, results, sort_scratch, staged_symbols;
  DeviceArray<double> forward, backward, initial;
  DeviceArray<double> states, adjoints, powers, carried, adjoint_carried, partial;
  DeviceArray<SmallDetail> details;
  DeviceArray<std::uint32_t> steps, numbers, sorted_steps, sorted_items;
  std::size_t item_room = 0, numbers_written = 0;  // items

  Contents() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() { cudaStreamDestroy(stream); }
};

namespace {

/// One run: from the upload to the download.
class Run {
 public:
  Run(SmallDevice::Contents& contents, const SmallInput& input, const SmallPlan& plan)
      : c_(contents), in_(input), plan_(plan), shape_(small_shape(input.rows)) {
    operators_ = operators_of(in_);
    on_the_way_ = in_.backward && sums_on_the_way(shape_, operators_);
    matrix_ = static_cast<std::size_t>(in_.rows) * static_cast<std::size_t>(in_.stride);
  }

  SmallOutput run() {
    upload();
    clear_results();
    prepare_tables();
    fill_walk();
    for (const SmallPart& part : plan_.parts) walk_part(part);
    return download();
  }

 private:
  void upload() {
    Layout layout;
    const std::size_t sequences = layout.add<SmallSequence>(plan_.sequences.size());
    const std::size_t tiles = layout.add<std::uint64_t>(plan_.tile_first.size());
    const std::size_t sets = layout.add<std::uint32_t>(in_.set_of.size());
    const std::size_t matrices = layout.add<double>(operators_ * matrix_);
    const std::size_t initial = layout.add<double>(static_cast<std::size_t>(in_.rows));
    unsigned char* up = c_.up.reserve(layout.bytes());
    const auto put = [up](std::size_t at, const auto* from, std::size_t count) {
      if (count > 0) std::memcpy(up + at, from, count * sizeof(*from));
    };
    put(sequences, plan_.sequences.data(), plan_.sequences.size());
    put(tiles, plan_.tile_first.data(), plan_.tile_first.size());
    put(sets, in_.set_of.data(), in_.set_of.size());
    put(matrices, in_.matrices, operators_ * matrix_);
    put(initial, in_.initial, static_cast<std::size_t>(in_.rows));
    const unsigned char* there = c_.inputs.upload(up, layout.bytes(), c_.stream);
    sequences_ = reinterpret_cast<const SmallSequence*>(there + sequences);
    tile_first_ = reinterpret_cast<const std::uint64_t*>(there + tiles);
    set_of_ = reinterpret_cast<const std::uint32_t*>(there + sets);
    matrices_ = reinterpret_cast<const double*>(there + matrices);
    initial_ = reinterpret_cast<const double*>(there + initial);
  }

  void clear_results() {
    Layout layout;
    layout.add<SmallHeader>(1);
    outcomes_at_ = layout.add<SmallOutcome>(in_.batch);
    gradients_at_ = layout.add<double>(in_.backward ? operators_ * matrix_ : 0);
    initial_at_ = layout.add<double>(wants_initial() ? static_cast<std::size_t>(in_.rows) : 0);
    used_at_ = layout.add<char>(in_.backward ? operators_ : 0);
    result_bytes_ = layout.bytes();
    c_.results.clear(result_bytes_, c_.stream);
  }

  void prepare_tables() {
    const std::size_t numbers = operators_ * static_cast<std::size_t>(shape_.pitch);
    SmallTables tables{};
    tables.matrices = matrices_;
    tables.initial = initial_;
    tables.forward = c_.forward.reserve(numbers);
    tables.backward = in_.backward ? c_.backward.reserve(numbers) : nullptr;
    tables.padded_initial = c_.initial.reserve(shape_.size());
    tables.rows = in_.rows;
    tables.stride = in_.stride;
    tables.size = static_cast<int>(shape_.size());
    tables.pitch = shape_.pitch;
    write_tables(tables, operators_, in_.backward, c_.stream);
  }

  /// What is the same for all parts.
  void fill_walk() {
    walk_.set_of = set_of_;
    walk_.forward = c_.forward.data();
    walk_.backward = c_.backward.data();
    walk_.initial = c_.initial.data();
    walk_.outcomes = result<SmallOutcome>(outcomes_at_);
    walk_.header = result<SmallHeader>(0);
    walk_.suspect_below = in_.suspect_below;
    walk_.burn_in = saturated(in_.burn_in);
    walk_.pace_mask = static_cast<std::uint32_t>(in_.pace - 1);
    walk_.operators = static_cast<std::uint32_t>(operators_);
    walk_.plain = static_cast<std::uint32_t>(in_.sets * in_.symbols);
    walk_.symbols = static_cast<std::uint32_t>(in_.symbols);
    walk_.set_entries = static_cast<std::uint32_t>(in_.set_of.size());
    walk_.traced = static_cast<std::uint32_t>(in_.traced);
    walk_.from_end = in_.from_end;
    walk_.through_burn_in = in_.through_burn_in;
    walk_.tangent_only = in_.tangent_only;
    c_.details.reserve(plan_.sequences.size());
  }

  void walk_part(const SmallPart& part) {
    begin_part(part);
    const std::size_t segments = part.segments();
    for (std::size_t segment = 0; segment < segments; ++segment) {
      begin_segment(part, segment);
      walk_.first_sweep = true;
      walk_.keep = in_.backward && segment + 1 == segments;
      walk_forward(walk_, shape_, c_.stream);
    }
    if (!in_.backward) return;
    for (std::size_t segment = segments; segment-- > 0;) {
      if (segment + 1 < segments) {
        begin_segment(part, segment);
        walk_.first_sweep = false;
        walk_.keep = true;
        walk_forward(walk_, shape_, c_.stream);
      }
      walk_backward(walk_, shape_, c_.stream);
      on_the_way_ ? add_tile_sums(part) : add_gradients(part);
    }
    if (wants_initial())
      add_initial(walk_.adjoint_carried, part.count, static_cast<int>(shape_.size()), in_.rows,
                  result<double>(initial_at_), c_.stream);
  }

  void begin_part(const SmallPart& part) {
    walk_.sequences = sequences_ + part.first;
    walk_.tile_first = tile_first_ + part.first_tile;
    walk_.details = c_.details.data() + part.first;
    walk_.count = static_cast<std::uint32_t>(part.count);
    walk_.width = static_cast<std::uint32_t>(part.width);
    walk_.tiles = static_cast<std::uint32_t>(part.tiles);
    walk_.whole = part.whole;
    // batches of random sequences differ a little
    if (part.items > c_.item_room) c_.item_room = part.items + part.items / 16;
    const std::size_t items = c_.item_room;
    walk_.steps = c_.steps.reserve(items);
    const std::size_t segments = part.segments();
    const std::size_t kept = segments == 1 ? 0 : in_.backward ? segments : 2;
    c_.carried.reserve(kept * part.count * shape_.size());
    if (!in_.backward) return;
    walk_.states = c_.states.reserve(items * shape_.size());
    if (on_the_way_) {
      walk_.sums = c_.partial.reserve(part.tiles * operators_ * shape_.size() * shape_.size());
      walk_.used = result<char>(used_at_);
    } else {
      walk_.adjoints = c_.adjoints.reserve(items * shape_.size());
    }
    walk_.powers = c_.powers.reserve((part.segment_steps / in_.pace + 1) * part.count);
    walk_.adjoint_carried = c_.adjoint_carried.reserve(part.count * shape_.size());
  }

  void begin_segment(const SmallPart& part, std::size_t segment) {
    walk_.begin = static_cast<std::uint32_t>(segment * part.segment_steps);
    walk_.end = saturated((segment + 1) * part.segment_steps);
    if (part.segments() > 1) {
      walk_.carried = carried_at(part, segment);
      walk_.carried_on = carried_at(part, segment + 1);
    }
    write_steps(walk_, static_cast<std::uint32_t>(part.longest), c_.stream);
  }

  /// The states at the beginning of a segment; forward alone, those of two segments are enough.
  [[nodiscard]] double* carried_at(const SmallPart& part, std::size_t segment) const {
    const std::size_t kept = in_.backward ? part.segments() : 2;
    return c_.carried.data() + segment % kept * part.count * shape_.size();
  }

  void add_tile_sums(const SmallPart& part) {
    add_sums({.sums = walk_.sums,
              .gradients = result<double>(gradients_at_),
              .tiles = static_cast<std::uint32_t>(part.tiles),
              .operators = walk_.operators,
              .rows = in_.rows,
              .stride = in_.stride},
             c_.stream);
  }

  void add_gradients(const SmallPart& part) {
    const std::size_t steps = steps_within(plan_, part, walk_.begin, walk_.end);
    sort_items(part);
    SmallProducts products{};
    products.sorted_steps = c_.sorted_steps.data();
    products.sorted_items = c_.sorted_items.data();
    products.states = walk_.states;
    products.adjoints = walk_.adjoints;
    products.gradients = result<double>(gradients_at_);
    products.used = result<char>(used_at_);
    products.steps = static_cast<std::uint32_t>(steps);
    products.operators = walk_.operators;
    products.rows = in_.rows;
    products.stride = in_.stride;
    products.size = static_cast<int>(shape_.size());
    products.partial = c_.partial.reserve(choose_chunk(products));
    add_products(products, c_.stream);
  }

  /// The items of the segment by their operators; those with nothing in them go last.
  void sort_items(const SmallPart& part) {
    if (c_.numbers_written < part.items) {
      write_numbers(c_.numbers.reserve(c_.item_room), c_.item_room, c_.stream);
      c_.numbers_written = c_.item_room;
    }
    SmallSort sort{};
    sort.steps = walk_.steps;
    sort.numbers = c_.numbers.data();
    sort.sorted_steps = c_.sorted_steps.reserve(c_.item_room);
    sort.sorted_items = c_.sorted_items.reserve(c_.item_room);
    sort.items = part.items;
    sort.largest = walk_.operators;
    sort.scratch_bytes = sort_scratch_bytes(sort, c_.stream);
    sort.scratch = c_.sort_scratch.reserve(sort.scratch_bytes + 1);
    sort_steps(sort, c_.stream);
  }

  SmallOutput download() {
    unsigned char* down = c_.down.reserve(result_bytes_);
    c_.results.download(down, result_bytes_, c_.stream);
    const std::size_t details = in_.want_details ? plan_.sequences.size() : 0;
    auto* more =
        reinterpret_cast<SmallDetail*>(c_.down_details.reserve(details * sizeof(SmallDetail)));
    c_.details.download(more, details, c_.stream);
    check(cudaStreamSynchronize(c_.stream), "walking a batch");
    const auto* header = reinterpret_cast<const SmallHeader*>(down);
    SmallOutput out;
    out.outcomes = {reinterpret_cast<const SmallOutcome*>(down + outcomes_at_), in_.batch};
    out.details = {more, details};
    if (in_.backward) {
      out.gradients = {reinterpret_cast<const double*>(down + gradients_at_), operators_ * matrix_};
      out.used = {reinterpret_cast<const char*>(down + used_at_), operators_};
    }
    if (wants_initial())
      out.initial = {reinterpret_cast<const double*>(down + initial_at_),
                     static_cast<std::size_t>(in_.rows)};
    out.failed = header->failed != 0;
    out.strange_symbols = header->strange != 0;
    return out;
  }

  [[nodiscard]] bool wants_initial() const { return in_.backward && in_.want_initial; }
  template <typename T>
  [[nodiscard]] T* result(std::size_t at) const {
    return reinterpret_cast<T*>(c_.results.data() + at);
  }

  SmallDevice::Contents& c_;
  const SmallInput& in_;
  const SmallPlan& plan_;
  SmallShape shape_;
  SmallWalk walk_{};
  std::size_t operators_, matrix_;
  const SmallSequence* sequences_ = nullptr;
  const std::uint64_t* tile_first_ = nullptr;
  const std::uint32_t* set_of_ = nullptr;
  const double *matrices_ = nullptr, *initial_ = nullptr;
  bool on_the_way_ = false;  // gradients are added up there
  std::size_t outcomes_at_ = 0, gradients_at_ = 0, initial_at_ = 0, used_at_ = 0;
  std::size_t result_bytes_ = 0;
};

}  // namespace

SmallDevice::SmallDevice() : contents_(std::make_unique<Contents>()) {}
SmallDevice::~SmallDevice() = default;

std::size_t SmallDevice::symbol_room() const {
  std::size_t left = 0, all = 0;
  check(cudaMemGetInfo(&left, &all), "asking for memory");
  return all / 4;
}

std::uint64_t SmallDevice::keep_symbols(const void* from, std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "taking memory for symbols");
  const cudaError_t status =
      cudaMemcpyAsync(memory, from, bytes, cudaMemcpyHostToDevice, contents_->stream);
  if (status != cudaSuccess) cudaFree(memory);
  check(status, "copying symbols to the GPU");
  check(cudaStreamSynchronize(contents_->stream), "copying symbols to the GPU");
  return reinterpret_cast<std::uint64_t>(memory);
}

void SmallDevice::drop_symbols(std::uint64_t address) {
  cudaFree(reinterpret_cast<void*>(address));
}

std::span<unsigned char> SmallDevice::stage_symbols(std::size_t bytes) {
  return {contents_->staged.reserve(bytes), bytes};
}

std::uint64_t SmallDevice::upload_staged(std::size_t bytes) {
  Contents& c = *contents_;
  return reinterpret_cast<std::uint64_t>(c.staged_symbols.upload(c.staged.data(), bytes, c.stream));
}

SmallOutput SmallDevice::run(const SmallInput& input, const SmallPlan& plan) {
  return Run(*contents_, input, plan).run();
}

}  // namespace hqmm::detail
