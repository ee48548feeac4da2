// Shared by the io tests: a folder that goes away, files in it, and the corpus of input files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail::testing {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Writes the file and gives its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

std::string contents(const std::filesystem::path& path);

std::filesystem::path corpus(const std::string& name);

std::vector<std::vector<Symbol>> symbols_of(const SequenceSet& set);

std::vector<std::string> labels_of(const SequenceSet& set);

}  // namespace hqmm::detail::testing
