// Which format an input has, judged by its first bytes and never by its name.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Never kAuto. An input of no other format is text, whose reader says what is wrong with it.
///
/// Binary formats and FASTA/FASTQ are recognised by their first bytes. A label column means CSV or
/// TSV. Among lines of text, in this order:
///   text      when the alphabet given explains the whole first line, TABs or not, except as below;
///   uci       three comma-separated fields, the last an unbroken run of letters that looks
///             biological;
///   labelled  a TAB after the first field where that is not a symbol; where it could be one, a
///             TAB on every line and other separators after it ("0<TAB>1 0 2": nobody mixes them
///             otherwise);
///   text      everything else, so "0<TAB>1<TAB>2" is three symbols.
[[nodiscard]] Format detect_format(const Input& input, const ReadOptions& options);

}  // namespace hqmm::detail
