#include "support/files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/support.hpp"

namespace hqmm::detail::testing {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "hqmm-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name) const { return (path_ / name).string(); }

std::string TemporaryFolder::write(const std::string& name, std::string_view bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return file(name);
}

std::string contents(const std::filesystem::path& path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::filesystem::path corpus(const std::string& name) {
  return source_dir() / "tests" / "formats" / name;
}

std::vector<std::vector<Symbol>> symbols_of(const SequenceSet& set) {
  std::vector<std::vector<Symbol>> out;
  for (std::size_t i = 0; i < set.size(); ++i) out.push_back(set[i].to_vector());
  return out;
}

std::vector<std::string> labels_of(const SequenceSet& set) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < set.size(); ++i) {
    out.push_back(set.labelled() ? set.classes()[set.label(i)] : "");
  }
  return out;
}

}  // namespace hqmm::detail::testing
