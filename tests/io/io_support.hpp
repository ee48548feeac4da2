// Shared by the io tests: a folder that goes away, files in it, and the corpus of input files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hqmm-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes the file and gives its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::filesystem::path& path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

inline std::filesystem::path corpus(const std::string& name) {
  return std::filesystem::path(HQMM_SOURCE_DIR) / "tests" / "formats" / name;
}

inline std::vector<std::vector<Symbol>> symbols_of(const SequenceSet& set) {
  std::vector<std::vector<Symbol>> out;
  for (std::size_t i = 0; i < set.size(); ++i) out.push_back(set[i].to_vector());
  return out;
}

inline std::vector<std::string> labels_of(const SequenceSet& set) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < set.size(); ++i) {
    out.push_back(set.labelled() ? set.classes()[set.label(i)] : "");
  }
  return out;
}

}  // namespace hqmm::testing
