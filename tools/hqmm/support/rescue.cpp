#include "support/rescue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "hqmm/io/descriptor.hpp"

namespace hqmm::cli {
namespace {

/// The name of the new file, or nothing. mkostemps() makes a name that cannot be foreseen, follows
/// no link and lets nobody else read: the temporary folder is everyone's.
std::string write_rescue_file(const std::string& bytes) {
  constexpr std::string_view kSuffix = ".h5";
  std::string name =
      (std::filesystem::temp_directory_path() / fmt::format("hqmm-XXXXXX{}", kSuffix)).string();
  Descriptor file(::mkostemps(name.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC));
  if (!file.is_open()) return {};
  if (write_all(file.get(), bytes) == 0 && ::fsync(file.get()) == 0 && file.close() == 0)
    return name;
  ::unlink(name.c_str());
  return {};
}

}  // namespace

Error with_advice(const Error& error, const std::string& advice) {
  return {error.code(), error.marked() + "; " + advice, error.where()};
}

void write_or_rescue(const char* what, const std::function<void()>& write,
                     const std::function<std::string()>& hdf5) {
  try {
    write();
  } catch (const Error& error) {
    std::string rescued;
    try {
      rescued = write_rescue_file(hdf5());
    } catch (const std::exception&) {
      throw error;  // the first failure is the one to tell of
    }
    if (rescued.empty()) throw;
    throw with_advice(error, fmt::format("the {} is in {}", what, rescued));
  }
}

}  // namespace hqmm::cli
