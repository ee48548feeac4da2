#include "hqmm/data/sequence_set.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/memory_budget.hpp"
#include "hqmm/core/scratch_file.hpp"
#include "hqmm/data/symbol_sets.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::size_t kFileStep = std::size_t{64} << 20;  // symbols that a file grows by, at most

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

SymbolBlock::SymbolBlock(const SymbolBlock& other) : wide_(other.wide_), budget_(other.budget_) {
  if (other.size_ > 0) append(other, 0, other.size_);
}

SymbolBlock::~SymbolBlock() {
  if (file_ != nullptr) return;
  std::free(data_);
  if (budget_ != nullptr) budget_->give_back(capacity_ * width());
}

SymbolBlock& SymbolBlock::operator=(const SymbolBlock& other) {
  SymbolBlock copy(other);
  swap(copy);
  return *this;
}

void SymbolBlock::swap(SymbolBlock& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(serial_, other.serial_);
  std::swap(wide_, other.wide_);
  std::swap(budget_, other.budget_);
  std::swap(file_, other.file_);
}

void SymbolBlock::grow(std::size_t at_least) {
  const std::size_t more = file_ != nullptr ? std::min(capacity_ / 2, kFileStep) : capacity_ / 2;
  const std::size_t wanted = std::max({at_least, capacity_ + more, std::size_t{4096}});
  if (file_ != nullptr || !grow_in_memory(wanted)) grow_in_file(wanted);
  capacity_ = wanted;
  if (serial_ == 0) serial_ = next_serial();
}

/// False when the budget has no room.
bool SymbolBlock::grow_in_memory(std::size_t capacity) {
  const std::size_t more = (capacity - capacity_) * width();
  if (budget_ != nullptr && !budget_->take(more)) return false;
  void* const moved = std::realloc(data_, capacity * width());
  if (moved == nullptr) {
    if (budget_ != nullptr) budget_->give_back(more);
    throw std::bad_alloc();
  }
  data_ = moved;
  return true;
}

void SymbolBlock::grow_in_file(std::size_t capacity) {
  if (file_ != nullptr) {
    file_->grow(capacity * width());
  } else {
    auto file = std::make_shared<ScratchFile>(budget_);
    file->grow(capacity * width());
    if (size_ > 0) std::memcpy(file->data(), data_, size_ * width());
    std::free(data_);
    budget_->give_back(capacity_ * width());
    file_ = std::move(file);
  }
  data_ = file_->data();
}

void SymbolBlock::tell_file(std::size_t symbols) const noexcept {
  file_->looked_at(symbols * width());
}

void SymbolBlock::append(const SymbolBlock& from, std::size_t begin, std::size_t count) {
  assert(begin + count <= from.size_);
  if (count == 0) return;
  if (wide_ != from.wide_) {
    for (std::size_t i = begin; i < begin + count; ++i) push_back(from[i]);
    return;
  }
  if (size_ + count > capacity_) grow(size_ + count);
  const std::size_t bytes = count * width();
  std::uint8_t* const to = writable_bytes() + size_ * width();
  if (from.file_ != nullptr) {
    from.file_->read(begin * width(), to, bytes);
  } else {
    std::memcpy(to, from.bytes() + begin * width(), bytes);
  }
  size_ += count;
  looked_at(count);
}

void SymbolBlock::widen() {
  SymbolBlock out;
  out.wide_ = true;
  out.budget_ = budget_;
  out.grow(size_ + 1);
  for (std::size_t i = 0; i < size_; ++i) out.writable_wide()[i] = (*this)[i];
  out.size_ = size_;
  swap(out);
}

std::uint8_t* SymbolBlock::reserve_bytes(std::size_t count) {
  assert(!wide_);
  if (size_ + count > capacity_) grow(size_ + count);
  return writable_bytes() + size_;
}

Offsets::Offsets(const Offsets& other) {
  grow(other.size_);
  std::copy_n(other.data_, other.size_, data_);
  size_ = other.size_;
}

void Offsets::grow(std::size_t at_least) {
  const std::size_t wanted = std::max({at_least, capacity_ + capacity_ / 2, std::size_t{8}});
  void* moved = std::realloc(data_, wanted * sizeof(std::uint64_t));
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::uint64_t*>(moved);
  capacity_ = wanted;
}

void Offsets::swap(Offsets& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

std::vector<Symbol> SequenceView::to_vector() const {
  std::vector<Symbol> out(length_);
  copy_to(out);
  return out;
}

bool SequenceView::has_missing() const noexcept {
  if (length_ == 0) return false;
  const Looked afterwards{block_, length_};
  if (!block_->wide())
    return std::memchr(block_->bytes() + begin_, SymbolBlock::kMissingByte, length_) != nullptr;
  const Symbol* from = block_->wide_data() + begin_;
  return std::find(from, from + length_, kMissing) != from + length_;
}

bool SequenceView::has_sets(std::size_t alphabet_size) const noexcept {
  const std::size_t sets = set_letters(alphabet_size).size();
  if (length_ == 0 || sets == 0) return false;
  const Looked afterwards{block_, length_};
  const auto any = [&](const auto* from) {
    using Stored = std::remove_cvref_t<decltype(*from)>;
    constexpr std::size_t kValues = std::size_t{std::numeric_limits<Stored>::max()} + 1;
    if (alphabet_size >= kValues) return false;
    const auto first = static_cast<Stored>(alphabet_size);
    const auto count = static_cast<Stored>(std::min(sets, kValues - 1 - alphabet_size));
    Stored found = 0;  // without a branch, in numbers as small as they are: many at a time
    for (std::size_t i = 0; i < length_; ++i)
      found |= static_cast<Stored>(static_cast<Stored>(from[i] - first) < count);
    return found != 0;
  };
  return block_->wide() ? any(block_->wide_data() + begin_) : any(block_->bytes() + begin_);
}

void SequenceView::copy_to(std::span<Symbol> out) const noexcept {
  assert(out.size() == length_);
  if (length_ == 0) return;
  const Looked afterwards{block_, length_};
  if (block_->wide()) {
    std::copy_n(block_->wide_data() + begin_, length_, out.data());
    return;
  }
  const std::uint8_t* from = block_->bytes() + begin_;
  for (std::size_t i = 0; i < length_; ++i)
    out[i] = from[i] == SymbolBlock::kMissingByte ? kMissing : Symbol{from[i]};
}

bool operator==(const SequenceView& a, const SequenceView& b) noexcept {
  if (a.length_ != b.length_) return false;
  for (std::size_t i = 0; i < a.length_; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

SequenceSet::SequenceSet(Alphabet alphabet, const std::vector<std::vector<Symbol>>& sequences)
    : alphabet_(std::move(alphabet)) {
  for (const auto& sequence : sequences) {
    for (const Symbol symbol : sequence) push_back(symbol);
    end_sequence();
  }
}

std::size_t SequenceSet::longest() const noexcept {
  std::size_t most = 0;
  for (std::size_t i = 0; i < size(); ++i) most = std::max(most, (*this)[i].size());
  return most;
}

std::vector<std::uint32_t> SequenceSet::with_sets() const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < size(); ++i)
    if ((*this)[i].has_sets(alphabet_.size())) out.push_back(i);
  return out;
}

void SequenceSet::end_sequence() {
  offsets_.push_back(symbols_.size());
  // Once one sequence has a label or a name, every sequence has a place for its own.
  if (labelled()) labels_.resize(size(), kNoLabel);
  if (named()) names_.resize(size());
  if (weighted()) weights_.resize(size(), 1.0);
}

void SequenceSet::end_sequence_labelled(const std::string& label) {
  end_sequence();
  const auto found = std::find(classes_.begin(), classes_.end(), label);
  labels_.resize(size(), kNoLabel);
  labels_.back() = static_cast<std::uint32_t>(found - classes_.begin());
  if (found == classes_.end()) classes_.push_back(label);
}

void SequenceSet::name_last(std::string name) {
  assert(!empty());
  names_.resize(size());
  names_.back() = std::move(name);
}

void SequenceSet::append(SequenceView sequence) {
  if (!sequence.empty()) symbols_.append(*sequence.block(), sequence.offset(), sequence.size());
  end_sequence();
}

void SequenceSet::append(const SequenceSet& other) {
  for (std::size_t i = 0; i < other.size(); ++i) {
    const SequenceView sequence = other[i];
    if (!sequence.empty()) symbols_.append(other.symbols_, sequence.offset(), sequence.size());
    if (other.labelled() && other.label(i) != kNoLabel) {
      end_sequence_labelled(other.classes_[other.label(i)]);
    } else {
      end_sequence();
    }
    if (other.named()) name_last(other.names_[i]);
    if (other.weighted()) weigh_last(other.weights_[i]);
  }
}

void SequenceSet::label_all(const std::string& label) {
  classes_ = {label};
  labels_.assign(size(), 0);
}

void SequenceSet::weigh_last(double weight) {
  assert(!empty() && weight > 0.0);
  weights_.resize(size(), 1.0);
  weights_.back() = weight;
}

void SequenceSet::set_weights(std::vector<double> weights) {
  if (weights.size() != size())
    throw fail(ErrorCode::kUsage, "{} weights for {} sequences", weights.size(), size());
  double sum = 0.0;
  for (const double weight : weights) {
    if (!(weight > 0.0) || !std::isfinite(weight))
      throw fail(ErrorCode::kUsage, "weights must be positive numbers, found {}", weight);
    sum += weight;
  }
  if (!std::isfinite(sum)) throw fail(ErrorCode::kUsage, "the sum of the weights is not finite");
  const bool equal = std::all_of(weights.begin(), weights.end(),
                                 [&](double weight) { return weight == weights.front(); });
  if (equal) weights.clear();
  const double mean = sum / static_cast<double>(size());
  for (double& weight : weights) weight /= mean;
  weights_ = std::move(weights);
}

SequenceSet SequenceSet::subset(const std::vector<std::uint32_t>& chosen) const {
  SequenceSet out(alphabet_);
  out.symbols_.keep_within(symbols_.budget());
  out.classes_ = classes_;
  for (const std::uint32_t i : chosen) out.append((*this)[i]);
  for (const std::uint32_t i : chosen) {
    if (labelled()) out.labels_.push_back(labels_[i]);
    if (named()) out.names_.push_back(names_[i]);
    if (weighted()) out.weights_.push_back(weights_[i]);
  }
  return out;
}

std::uint64_t SequenceSet::hash() const noexcept {
  // FNV-1a over 16-bit symbols and boundaries: independent of the storage width.
  std::uint64_t state = 0xCBF29CE484222325ULL;
  const auto mix = [&state](std::uint64_t value) { state = (state ^ value) * 0x100000001B3ULL; };
  const auto mix_text = [&mix](const std::string& text, std::uint64_t end) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(end);
  };
  for (const std::string& token : alphabet_.all_tokens()) mix_text(token, 0x100);
  for (std::size_t i = 0; i < size(); ++i) {
    const SequenceView sequence = (*this)[i];
    for (std::size_t t = 0; t < sequence.size(); ++t) mix(sequence[t]);
    symbols_.looked_at(sequence.size());
    mix(0x10000);
    if (labelled() && labels_[i] != kNoLabel) mix_text(classes_[labels_[i]], 0x20000);
    if (weighted()) mix(std::bit_cast<std::uint64_t>(weights_[i]));
  }
  return state;
}

}  // namespace hqmm
