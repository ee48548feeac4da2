// Reading sequences as a stream of pieces, for inputs too large for memory.
#pragma once

#include <functional>
#include <string>

#include "hqmm/core/export.hpp"
#include "hqmm/io/sequences.hpp"

namespace HQMM_API hqmm {

/// The next symbols of a sequence.
struct SequencePiece {
  SequenceView symbols;  // maybe none; valid during the call
  std::string name;      // the number of the sequence if it has no name
  bool ends = false;     // this was the last of the sequence
};
using PieceSink = std::function<void(const SequencePiece&)>;

/// FASTA and FASTQ come in pieces of a few hundred kilobytes, however long their records are; other
/// formats, and records that an ambiguity code may drop, are read whole first. Throws like
/// read_sequences(), maybe after some pieces.
void stream_sequences(const std::string& path, const ReadOptions& options, const PieceSink& sink);

}  // namespace hqmm
