// SequenceSet: all sequences of a data set in one block of symbols.
//
// A symbol takes one byte while the alphabet has at most 255 symbols (byte 255 is the missing one)
// and two bytes beyond. The block grows by realloc, which moves pages instead of copying them, so
// reading N symbols never needs much more than N bytes. Where there is a budget of memory
// (core/memory_budget.hpp) that has no room for it, the block is a mapped file.
#pragma once

#include <cassert>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"

namespace hqmm::detail {
class MemoryBudget;
class ScratchFile;
}  // namespace hqmm::detail

namespace HQMM_API hqmm {

namespace detail {

/// A growing array of symbols that starts with one byte each and widens automatically if needed.
class SymbolBlock {
 public:
  static constexpr std::uint8_t kMissingByte = 0xFF;
  static constexpr Symbol kLargestNarrow = 0xFE;

  SymbolBlock() = default;
  SymbolBlock(const SymbolBlock& other);
  SymbolBlock& operator=(const SymbolBlock& other);
  SymbolBlock(SymbolBlock&& other) noexcept { swap(other); }
  SymbolBlock& operator=(SymbolBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SymbolBlock();

  /// From now on what it grows by comes out of this budget; so do copies.
  void keep_within(std::shared_ptr<MemoryBudget> budget) noexcept { budget_ = std::move(budget); }
  [[nodiscard]] const std::shared_ptr<MemoryBudget>& budget() const noexcept { return budget_; }
  /// Whether it is a file: better read in order than here and there.
  [[nodiscard]] bool in_file() const noexcept { return file_ != nullptr; }
  /// Called by whoever has walked along so many symbols: pages of a file are let go before there are
  /// too many of them.
  void looked_at(std::size_t symbols) const noexcept {
    if (file_ != nullptr) tell_file(symbols);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool wide() const noexcept { return wide_; }
  /// A number that no other block of this process has had; with size() and wide() it
  /// identifies the symbols, so that copies elsewhere can be recognised. 0 while empty.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] Symbol operator[](std::size_t i) const noexcept {
    assert(i < size_);
    if (wide_) return wide_data()[i];
    const std::uint8_t byte = bytes()[i];
    return byte == kMissingByte ? kMissing : byte;
  }
  void push_back(Symbol symbol) {
    if (!wide_ && symbol > kLargestNarrow && symbol != kMissing) widen();
    if (size_ == capacity_) grow(size_ + 1);
    if (wide_) {
      writable_wide()[size_++] = symbol;
    } else {
      writable_bytes()[size_++] =
          static_cast<std::uint8_t>(symbol);  // kMissing truncates to kMissingByte
    }
  }
  /// A stretch of another block. Reads a block that is a file without bringing it into memory.
  void append(const SymbolBlock& from, std::size_t begin, std::size_t count);
  /// Room for `count` more narrow symbols, to be filled by the caller and made part of the block
  /// with commit(); only while !wide(). Readers write straight into it.
  [[nodiscard]] std::uint8_t* reserve_bytes(std::size_t count);
  void commit(std::size_t count) noexcept {
    assert(!wide_ && size_ + count <= capacity_);
    size_ += count;
    looked_at(count);
  }

  [[nodiscard]] const std::uint8_t* bytes() const noexcept {
    return static_cast<const std::uint8_t*>(data_);
  }
  [[nodiscard]] const Symbol* wide_data() const noexcept {
    return static_cast<const Symbol*>(data_);
  }

 private:
  std::uint8_t* writable_bytes() noexcept { return static_cast<std::uint8_t*>(data_); }
  Symbol* writable_wide() noexcept { return static_cast<Symbol*>(data_); }
  [[nodiscard]] std::size_t width() const noexcept { return wide_ ? sizeof(Symbol) : 1; }
  void grow(std::size_t at_least);
  [[nodiscard]] bool grow_in_memory(std::size_t capacity);
  void grow_in_file(std::size_t capacity);
  void tell_file(std::size_t symbols) const noexcept;
  void widen();
  void swap(SymbolBlock& other) noexcept;

  void* data_ = nullptr;  // ours to free, unless it is the file's
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // in symbols
  std::uint64_t serial_ = 0;
  bool wide_ = false;
  std::shared_ptr<MemoryBudget> budget_;  // none: no limit
  std::shared_ptr<ScratchFile> file_;     // ours alone
};

/// Where the sequences begin, and finally where the last one ends: {0} without sequences. Grows in
/// place if possible: a vector sometimes holds everything twice, and there may be 10⁸ sequences.
class Offsets {
 public:
  Offsets() { push_back(0); }
  Offsets(const Offsets& other);
  Offsets(Offsets&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Offsets& operator=(const Offsets& other) { return *this = Offsets(other); }
  Offsets& operator=(Offsets&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Offsets() { std::free(data_); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] std::uint64_t back() const noexcept { return data_[size_ - 1]; }
  void push_back(std::uint64_t offset) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = offset;
  }

 private:
  void grow(std::size_t at_least);
  void swap(Offsets& other) noexcept;

  std::uint64_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace detail

/// A stretch of symbols inside a block: a whole sequence or a piece of one. Cheap to copy; valid
/// while the block lives and does not grow.
/// A plain value: any number of threads may read it at a time.
class SequenceView {
 public:
  SequenceView() = default;
  SequenceView(const detail::SymbolBlock& block, std::size_t begin, std::size_t length) noexcept
      : block_(&block), begin_(begin), length_(length) {}

  [[nodiscard]] std::size_t size() const noexcept { return length_; }
  [[nodiscard]] bool empty() const noexcept { return length_ == 0; }
  /// The block, and where the stretch begins in it; null for a view that was never set.
  [[nodiscard]] const detail::SymbolBlock* block() const noexcept { return block_; }
  [[nodiscard]] std::size_t offset() const noexcept { return begin_; }
  [[nodiscard]] Symbol operator[](std::size_t i) const noexcept { return (*block_)[begin_ + i]; }
  [[nodiscard]] SequenceView part(std::size_t begin, std::size_t length) const noexcept {
    assert(begin + length <= length_);
    return {*block_, begin_ + begin, length};
  }
  [[nodiscard]] std::vector<Symbol> to_vector() const;
  /// Into a span of size() symbols.
  void copy_to(std::span<Symbol> out) const noexcept;
  /// visit(symbols) with the symbols as stored: bytes, where detail::SymbolBlock::kMissingByte
  /// stands for kMissing, or symbols.
  template <typename Visit>
  decltype(auto) with_stored(Visit&& visit) const {
    const Looked afterwards{block_, length_};
    if (block_ != nullptr && block_->wide())
      return std::forward<Visit>(visit)(block_->wide_data() + begin_);
    return std::forward<Visit>(visit)(block_ == nullptr ? nullptr : block_->bytes() + begin_);
  }
  [[nodiscard]] bool has_missing() const noexcept;
  /// Of an alphabet of that size (symbol_sets.hpp).
  [[nodiscard]] bool has_sets(std::size_t alphabet_size) const noexcept;

  friend bool operator==(const SequenceView& a, const SequenceView& b) noexcept;

 private:
  /// Says so at the end of a walk.
  class Looked {
   public:
    Looked(const detail::SymbolBlock* block, std::size_t symbols) noexcept
        : block_(block), symbols_(symbols) {}
    Looked(const Looked&) = delete;
    Looked& operator=(const Looked&) = delete;
    ~Looked() {
      if (block_ != nullptr) block_->looked_at(symbols_);
    }

   private:
    const detail::SymbolBlock* block_;
    std::size_t symbols_;
  };

  const detail::SymbolBlock* block_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t length_ = 0;
};

/// Sequences of different lengths over one alphabet, optionally with a name and a class each.
/// A plain value: any number of threads may read it at a time.
class SequenceSet {
 public:
  static constexpr std::uint32_t kNoLabel = 0xFFFFFFFF;

  SequenceSet() = default;
  explicit SequenceSet(Alphabet alphabet) : alphabet_(std::move(alphabet)) {}
  /// For tests and small data: the symbols of each sequence in turn.
  SequenceSet(Alphabet alphabet, const std::vector<std::vector<Symbol>>& sequences);

  [[nodiscard]] const Alphabet& alphabet() const noexcept { return alphabet_; }
  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t symbol_count() const noexcept { return offsets_.back(); }
  [[nodiscard]] std::size_t longest() const noexcept;
  /// The sequences with symbols that stand for several (symbol_sets.hpp), ascending.
  [[nodiscard]] std::vector<std::uint32_t> with_sets() const;
  [[nodiscard]] SequenceView operator[](std::size_t i) const noexcept {
    return {symbols_, offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  [[nodiscard]] const detail::SymbolBlock& symbols() const noexcept { return symbols_; }
  [[nodiscard]] const detail::Offsets& offsets() const noexcept { return offsets_; }

  /// Class names in order of first appearance, and the class of sequence i, or kNoLabel. Call
  /// label() only if labelled().
  [[nodiscard]] bool labelled() const noexcept { return !labels_.empty(); }
  [[nodiscard]] const std::vector<std::string>& classes() const noexcept { return classes_; }
  [[nodiscard]] std::uint32_t label(std::size_t i) const noexcept { return labels_[i]; }
  [[nodiscard]] bool named() const noexcept { return !names_.empty(); }
  [[nodiscard]] const std::string& name(std::size_t i) const noexcept { return names_[i]; }

  /// How much sequence i counts in learning and in scores, relative to a mean of 1: all the same
  /// unless set_weights() was called.
  [[nodiscard]] bool weighted() const noexcept { return !weights_.empty(); }
  [[nodiscard]] double weight(std::size_t i) const noexcept {
    return weights_.empty() ? 1.0 : weights_[i];
  }
  /// One weight for each sequence, once all are there: positive numbers; only their ratios matter.
  /// Equal weights mean no weights. Throws kUsage.
  void set_weights(std::vector<double> weights);

  // Building. Symbols are appended to the open sequence; end_sequence() closes it.
  void push_back(Symbol symbol) { symbols_.push_back(symbol); }
  detail::SymbolBlock& open_block() noexcept { return symbols_; }
  [[nodiscard]] std::size_t open_length() const noexcept {
    return symbols_.size() - offsets_.back();
  }
  void end_sequence();
  void end_sequence_labelled(const std::string& label);
  void name_last(std::string name);
  void weigh_last(double weight);  // as it is: set_weights() is what divides by the mean
  void append(SequenceView sequence);
  /// All sequences of another set, with their names and classes, under this set's alphabet.
  void append(const SequenceSet& other);
  /// Gives every sequence this class.
  void label_all(const std::string& label);
  void set_alphabet(Alphabet alphabet) { alphabet_ = std::move(alphabet); }

  /// The chosen sequences, with labels and names, in the order given.
  [[nodiscard]] SequenceSet subset(const std::vector<std::uint32_t>& chosen) const;
  /// 64-bit hash of alphabet, symbols, boundaries, class names and weights: "which data was this"
  /// in provenance. Neither the storage width nor the order of the classes matters.
  [[nodiscard]] std::uint64_t hash() const noexcept;

 private:
  Alphabet alphabet_;
  detail::SymbolBlock symbols_;
  detail::Offsets offsets_;
  std::vector<std::string> classes_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::string> names_;
  std::vector<double> weights_;  // in units of their mean; empty: all are 1
};

}  // namespace hqmm
