// Sequences of a batch in memory, when those of the set lie in a scratch file: a batch is from all
// over the file, and looking at it there would bring in sixteen pages for every sequence.
#pragma once

#include <span>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

class FetchedSequences {
 public:
  /// Reads the sequences that lie in a file, which become views of this; until the next call.
  void fetch(std::span<SequenceView> batch);

 private:
  SymbolBlock block_;
};

}  // namespace hqmm::detail
