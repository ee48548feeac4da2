// FASTA and FASTQ: named records of letters over several lines. Read line by line but never held as
// text, so a record may be a whole chromosome.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequence_stream.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// `>name description`, then lines of letters; ';' lines are comments. Names are the first word.
[[nodiscard]] SequenceSet read_fasta(Input& input, const ReadOptions& options);
/// `@name`, letters, `+`, and as many quality values as letters, each part over one or more lines.
/// The qualities are checked and dropped.
[[nodiscard]] SequenceSet read_fastq(Input& input, const ReadOptions& options);

/// The same as pieces: of a record as much as there is, again and again, and at last its end.
/// Codes that drop a record must not come up in the middle of one: options.ambiguous is not kDrop.
void stream_fasta(Input& input, const ReadOptions& options, const PieceSink& sink);
void stream_fastq(Input& input, const ReadOptions& options, const PieceSink& sink);

}  // namespace hqmm::detail
