#include "hqmm/data/fetched_sequences.hpp"

namespace hqmm::detail {

void FetchedSequences::fetch(std::span<SequenceView> batch) {
  if (batch.empty() || batch.front().block() == nullptr || !batch.front().block()->in_file())
    return;
  SymbolBlock fetched;  // a block of its own: whoever copies blocks elsewhere must not know it
  for (const SequenceView& sequence : batch)
    fetched.append(*sequence.block(), sequence.offset(), sequence.size());
  block_ = std::move(fetched);
  std::size_t begin = 0;
  for (SequenceView& sequence : batch) {
    sequence = {block_, begin, sequence.size()};
    begin += sequence.size();
  }
}

}  // namespace hqmm::detail
