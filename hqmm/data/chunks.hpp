// Chunks: long sequences cut into pieces of one length, each with a burn-in that moves the state
// and is not scored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

/// Pieces as views into the set they were cut from.
struct Chunk {
  SequenceView symbols;
  std::size_t sequence = 0;  // which sequence it came from
  std::size_t begin = 0;     // and where it starts there
};

struct ChunkPlan {
  std::size_t chunk_length = 0;  // 0: sequences stay whole
  std::size_t burn_in = 0;
};

inline constexpr std::size_t kAutoChunkAbove = 600;
inline constexpr std::size_t kAutoChunkLength = 300;
inline constexpr std::size_t kAutoBurnIn = 20;

/// Fills in what is not given: a set with a sequence longer than 600 is cut into chunks of 300 with
/// a burn-in of 20; shorter ones stay whole with none. A burn-in not given takes at most half of a
/// given chunk length; throws kUsage when a chunk would have no symbol left to score.
[[nodiscard]] ChunkPlan plan_chunks(const SequenceSet& set, std::optional<std::size_t> chunk_length,
                                    std::optional<std::size_t> burn_in);

/// The chunks of a set that lives elsewhere. There may be 10⁸: they take eight bytes each, and none
/// where every sequence is one.
class Chunks {
 public:
  Chunks() = default;
  /// The set must outlive them.
  Chunks(const SequenceSet& set, const ChunkPlan& plan);
  [[nodiscard]] std::size_t size() const noexcept { return whole_ ? set_->size() : pieces_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] Chunk operator[](std::size_t i) const noexcept;
  /// Whether their sequences have weights.
  [[nodiscard]] bool weighted() const noexcept { return set_ != nullptr && set_->weighted(); }
  /// The weight of the sequence that chunk i came from.
  [[nodiscard]] double weight(std::size_t i) const noexcept {
    return weighted() ? set_->weight((*this)[i].sequence) : 1.0;
  }

 private:
  struct Piece {
    std::uint32_t sequence = 0;
    std::uint32_t number = 0;  // within the sequence
  };

  const SequenceSet* set_ = nullptr;
  std::size_t step_ = 0;  // chunk_length
  bool whole_ = false;    // chunk i is sequence i
  std::vector<Piece> pieces_;
};

/// Consecutive pieces of chunk_length symbols (0: whole sequences), the last one shorter if need
/// be. Every chunk has a symbol to score: a piece, or a whole sequence, that ends within the
/// burn-in is left out. Throws kUsage when the burn-in is not shorter than chunk_length.
[[nodiscard]] Chunks cut(const SequenceSet& set, const ChunkPlan& plan);

}  // namespace hqmm::detail
