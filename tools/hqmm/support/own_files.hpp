// Outputs that would overwrite what a command reads: refused before anything is done.
#pragma once

#include <string>
#include <vector>

#include "support/internals.hpp"

namespace hqmm::cli {

/// A file of a command, and what the user gave it as: "-o", "DATA", "--validation".
struct NamedFile {
  std::string name;
  std::string path;  // empty: not given
};

/// Throws kUsage where an output is the same file as an input or as another output, by whatever
/// name or link. stdin and stdout, devices and pipes may be both.
void require_other_files(const std::vector<NamedFile>& outputs,
                         const std::vector<NamedFile>& inputs);

/// What a training run keeps in its folder, but for the model: config.json, …
[[nodiscard]] std::vector<NamedFile> files_of_run(const std::string& folder);

}  // namespace hqmm::cli
