// What a command hands to the user: text on stdout or in a file, JSON as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace hqmm::cli {

/// Data for the user: stdout, or a file that appears whole when finish() is called.
class Output {
 public:
  explicit Output(std::string path = {}) : path_(std::move(path)) {}
  void write(std::string_view text);
  void flush();
  void finish();

 private:
  std::string path_;
  std::string pending_;
};

/// Throws kCannotWrite. Found out before hours of training, not after.
void require_writable_place(const std::string& path);

[[nodiscard]] std::string dump(const nlohmann::ordered_json& json);

}  // namespace hqmm::cli
