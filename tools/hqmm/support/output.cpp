#include "support/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hqmm/core/error.hpp"
#include "hqmm/io/atomic_file.hpp"

namespace hqmm::cli {

void Output::write(std::string_view text) {
  if (!path_.empty()) {
    pending_ += text;
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw fail(ErrorCode::kCannotWrite, "stdout cannot be written: {}", std::strerror(errno));
  }
}

void Output::flush() {
  if (path_.empty() && std::fflush(stdout) != 0) {
    throw fail(ErrorCode::kCannotWrite, "stdout cannot be written: {}", std::strerror(errno));
  }
}

void Output::finish() {
  if (path_.empty()) {
    flush();
  } else {
    write_file(path_, pending_);
  }
}

void require_writable_place(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder)) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "there is no folder '{}'",
               folder.string());
  }
  if (std::filesystem::is_directory(path) || ::access(folder.c_str(), W_OK) != 0) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "cannot be written");
  }
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hqmm::cli
