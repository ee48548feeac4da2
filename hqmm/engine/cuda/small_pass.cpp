#include "hqmm/engine/cuda/small_pass.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hqmm/core/error.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/engine/cuda/small_device.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kMostBlocks = 16;  // that stay on the GPU
constexpr std::size_t kUsualMemory = std::size_t{1} << 30;

std::size_t bytes_of(const SymbolBlock& block) { return block.size() * (block.wide() ? 2 : 1); }
const void* data_of(const SymbolBlock& block) {
  return block.wide() ? static_cast<const void*>(block.wide_data()) : block.bytes();
}

/// The symbols of batches on the GPU. Blocks stay there from batch to batch; symbols that are too
/// many, or of too many blocks, go up with their batch.
class SymbolStore {
 public:
  explicit SymbolStore(SmallDevice& device) : device_(device), room_(device.symbol_room()) {}
  SymbolStore(const SymbolStore&) = delete;
  SymbolStore& operator=(const SymbolStore&) = delete;
  ~SymbolStore() {
    for (const Copy& copy : copies_) device_.drop_symbols(copy.address);
  }

  /// Sets the addresses of sequences that have `place` in the batch.
  void locate(std::span<const SequenceView> batch, std::vector<SmallSequence>& sequences) {
    if (!note_blocks(batch)) {
      upload_all(batch, sequences);
      return;
    }
    const SymbolBlock* last = nullptr;
    std::uint64_t base = 0;
    for (SmallSequence& sequence : sequences) {
      const SequenceView& view = batch[sequence.place];
      if (view.block() != last) {
        last = view.block();
        base = address_of(*last);
      }
      sequence.symbols = base + view.offset() * (last->wide() ? 2 : 1);
      if (last->wide()) sequence.place |= SmallSequence::kWide;
    }
  }

 private:
  struct Copy {
    std::uint64_t serial = 0, address = 0;
    std::size_t size = 0, bytes = 0;
    std::uint64_t used = 0;  // in this run
    bool wide = false;

    [[nodiscard]] bool is_of(const SymbolBlock& block) const {
      return serial == block.serial() && size == block.size() && wide == block.wide();
    }
  };

  /// The blocks of the batch; false when they cannot all stay.
  bool note_blocks(std::span<const SequenceView> batch) {
    blocks_.clear();
    ++run_;
    std::size_t bytes = 0;
    const SymbolBlock* last = nullptr;
    for (const SequenceView& view : batch) {
      if (view.empty() || view.block() == last) continue;
      last = view.block();
      if (std::find(blocks_.begin(), blocks_.end(), last) != blocks_.end()) continue;
      blocks_.push_back(last);
      bytes += bytes_of(*last);
      if (blocks_.size() > kMostBlocks || bytes > room_) return false;
    }
    for (const SymbolBlock* block : blocks_)
      if (Copy* copy = find(*block)) copy->used = run_;
    return true;
  }

  Copy* find(const SymbolBlock& block) {
    const auto found = std::find_if(copies_.begin(), copies_.end(),
                                    [&](const Copy& copy) { return copy.is_of(block); });
    return found == copies_.end() ? nullptr : &*found;
  }

  std::uint64_t address_of(const SymbolBlock& block) {
    if (const Copy* copy = find(block)) return copy->address;
    const std::size_t bytes = bytes_of(block);
    make_room(bytes);
    const std::uint64_t address = device_.keep_symbols(data_of(block), bytes);
    copies_.push_back({block.serial(), address, block.size(), bytes, run_, block.wide()});
    return address;
  }

  /// Drops what has not been used for the longest time; never what this run uses.
  void make_room(std::size_t bytes) {
    const auto taken = [&] {
      std::size_t sum = 0;
      for (const Copy& copy : copies_) sum += copy.bytes;
      return sum;
    };
    while (copies_.size() >= kMostBlocks || taken() + bytes > room_) {
      const auto oldest =
          std::min_element(copies_.begin(), copies_.end(),
                           [](const Copy& a, const Copy& b) { return a.used < b.used; });
      if (oldest == copies_.end() || oldest->used == run_) return;
      device_.drop_symbols(oldest->address);
      copies_.erase(oldest);
    }
  }

  void upload_all(std::span<const SequenceView> batch, std::vector<SmallSequence>& sequences) {
    std::size_t symbols = 0;
    for (const SmallSequence& sequence : sequences) symbols += sequence.length;
    const std::size_t bytes = symbols * sizeof(Symbol);
    auto* to = reinterpret_cast<Symbol*>(device_.stage_symbols(bytes).data());
    for (const SmallSequence& sequence : sequences) {
      batch[sequence.place].copy_to({to, sequence.length});
      to += sequence.length;
    }
    std::uint64_t address = device_.upload_staged(bytes);
    for (SmallSequence& sequence : sequences) {
      sequence.symbols = address;
      sequence.place |= SmallSequence::kWide;
      address += std::uint64_t{sequence.length} * sizeof(Symbol);
    }
  }

  SmallDevice& device_;
  std::size_t room_;
  std::uint64_t run_ = 0;
  std::vector<Copy> copies_;
  std::vector<const SymbolBlock*> blocks_;
};

SmallInput input_of(const SmallModel& model, const SmallOptions& options, std::size_t batch) {
  static const std::vector<std::uint32_t> kOneSet{0};
  SmallInput in;
  in.rows = model.rows;
  in.traced = model.traced;
  in.stride = model.stride;
  in.symbols = model.symbols;
  in.sets = model.sets;
  in.set_of = model.positions == nullptr ? kOneSet : model.positions->entries();
  in.from_end =
      model.positions != nullptr && model.positions->anchor() == PositionMap::Anchor::kEnd;
  in.matrices = model.matrices;
  in.initial = model.initial;
  in.burn_in = options.burn_in;
  in.through_burn_in = options.through_burn_in;
  in.tangent_only = options.tangent_only;
  in.want_initial = options.want_initial;
  in.backward = options.backward;
  in.pace = options.pace;
  in.suspect_below = options.suspect_below;
  in.want_details = options.pace == 1 || options.suspect_below > 0.0;
  in.batch = batch;
  return in;
}

void copy_sums(const SmallOutput& from, SmallResult& out) {
  out.strange_symbols = from.strange_symbols;
  out.log_likelihoods.resize(from.outcomes.size());
  out.scored.resize(from.outcomes.size());
  for (std::size_t i = 0; i < from.outcomes.size(); ++i) {
    out.log_likelihoods[i] = from.outcomes[i].log_likelihood;
    out.scored[i] = from.outcomes[i].scored;
  }
  out.gradients.assign(from.gradients.begin(), from.gradients.end());
  out.used.assign(from.used.begin(), from.used.end());
  out.initial.assign(from.initial.begin(), from.initial.end());
}

/// The first that failed, and the least of the weights that did not.
void copy_troubles(const SmallOutput& from, const SmallPlan& plan, bool careful, SmallResult& out) {
  out.suspects.assign(from.outcomes.size(), 0);
  out.failure.reset();
  out.least = {};
  for (std::size_t i = 0; i < from.outcomes.size(); ++i) {
    if (from.outcomes[i].failed == 0) continue;
    out.suspects[i] = 1;
    if (careful && !out.failure) out.failure = NotFinite{i, from.outcomes[i].failed - 1};
  }
  for (std::size_t i = 0; i < from.details.size(); ++i) {
    const SmallDetail& detail = from.details[i];
    const std::size_t place = plan.sequences[i].place & ~SmallSequence::kWide;
    if (detail.suspect != 0) out.suspects[place] = 1;
    if (!careful) continue;
    if (detail.least < out.least.weight ||
        (detail.least == out.least.weight && place < out.least.sequence))
      out.least = {detail.least, place, detail.least_step};
  }
}

}  // namespace

struct SmallPass::Contents {
  SmallDevice device;
  SymbolStore symbols{device};
  SmallPlan plan;

  void list(std::span<const SequenceView> batch, std::span<const double> weights) {
    plan.sequences.clear();
    plan.sequences.reserve(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t length = batch[i].size();
      if (length == 0) continue;
      if (length >= 0xFFFFFFFF || i >= SmallSequence::kWide)
        throw Error(ErrorCode::kUsage, "a batch that is too large for the GPU");
      plan.sequences.push_back({0, weights.empty() ? 1.0 : weights[i],
                                static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(i)});
    }
    symbols.locate(batch, plan.sequences);
  }
};

SmallPass::SmallPass() : contents_(std::make_unique<Contents>()) {}
SmallPass::~SmallPass() = default;

bool SmallPass::run(const SmallModel& model, std::span<const SequenceView> batch,
                    std::span<const double> weights, const SmallOptions& options,
                    SmallResult& out) {
  assert(model.rows <= kMostSmallRows && (options.pace == 1 || options.pace == 16));
  assert(weights.empty() || weights.size() == batch.size());
  check_interruption();
  Contents& c = *contents_;
  c.list(batch, weights);
  const SmallInput input = input_of(model, options, batch.size());
  cut_small_plan(small_room(input, options.memory == 0 ? kUsualMemory : options.memory), c.plan);
  const SmallOutput output = c.device.run(input, c.plan);
  copy_sums(output, out);
  copy_troubles(output, c.plan, options.pace == 1, out);
  return !output.failed;
}

}  // namespace hqmm::detail
