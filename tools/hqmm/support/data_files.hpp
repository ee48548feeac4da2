// The sequence files of a command: one or more, read as one set.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "support/internals.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {

using Paths = std::vector<std::string>;

/// "a.fa", "a.fa, b.fa", or "a.fa and 7 more files", for messages.
[[nodiscard]] std::string shown(const Paths& paths);
/// Whether the ending of a path says FASTA.
[[nodiscard]] bool is_fasta_path(const std::string& path);
/// For require_other_files().
void add_named(std::vector<NamedFile>& to, const std::string& name, const Paths& paths);
/// Throws kUsage when more than one of all inputs is stdin.
void require_one_stdin(std::initializer_list<Paths> inputs);

}  // namespace hqmm::cli
