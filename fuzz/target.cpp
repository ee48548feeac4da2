#include "target.hpp"
#include "hqmm/core/fail.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "hqmm/core/error.hpp"

namespace hqmm::fuzz {
namespace {

constexpr std::array<Target, 14> kTargets{{
    {"text", text},
    {"fasta", fasta},
    {"npy", npy},
    {"mat", mat},
    {"hdf5", hdf5},
    {"model", model},
    {"model_binary", model_binary},
    {"classifier", classifier},
    {"position_map", position_map},
    {"run_directory", run_directory},
    {"checkpoint", checkpoint},
    {"reply", reply},
    {"options", options},
    {"values", values},
}};

constexpr std::size_t kLongestLine = 2000;

void require_clean_line(const Error& error) {
  const std::string_view line = error.what();
  const auto dirty = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (line.empty() || line.size() > kLongestLine || std::any_of(line.begin(), line.end(), dirty))
    bug(fmt::format("a message that is not one clean line: {}", line));
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

void bug(const std::string& what) {
  fmt::print(stderr, "bug: {}\n", what);
  std::abort();
}

bool read_or_refuse(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData && error.code() != ErrorCode::kUsage)
      bug(fmt::format("exit status {}: {}", exit_status(error.code()), error.what()));
    require_clean_line(error);
    return false;
  }
}

std::string path_of(std::string_view bytes) {
  static const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, 0) != 0 ||
      ::pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::perror("fuzz: no file in memory");
    std::exit(1);
  }
  return fmt::format("/proc/self/fd/{}", file);
}

std::size_t choice(std::string_view bytes, std::size_t of) {
  return bytes.empty() ? 0 : static_cast<unsigned char>(bytes.back()) % of;
}

}  // namespace hqmm::fuzz
