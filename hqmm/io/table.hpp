// CSV and TSV: a row is a sequence, one column may hold its class, the others hold its symbols in
// order.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Fields may be quoted ("a,b", with "" for a quote). Empty cells at the end of a row end the
/// sequence, inner ones are missing symbols. A lone symbol column holds whole sequences, as in the
/// text format. The first row is a header when the label column is given by name, or when none of
/// its symbol cells is a symbol.
[[nodiscard]] SequenceSet read_table(Input& input, char separator, const ReadOptions& options);

}  // namespace hqmm::detail
