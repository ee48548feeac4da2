// FASTA and FASTQ.
#include "hqmm/io/fasta.hpp"

#include "target.hpp"

namespace hqmm::fuzz {

void fasta(std::string_view bytes) {
  const std::size_t which = choice(bytes, 4);
  const ReadOptions options{.format = which % 2 == 0 ? Format::kFasta : Format::kFastq,
                            .ambiguous = which < 2 ? Ambiguous::kAsMissing : Ambiguous::kDrop};
  const std::string path = path_of(bytes);
  read_or_refuse([&] { (void)read_sequences(path, options); });
  read_or_refuse([&] { (void)read_sequences(path); });
}

}  // namespace hqmm::fuzz
