#include "support/support.hpp"

#include <cstdlib>

namespace hqmm::detail::testing {

void expect_error(ErrorCode code, std::string_view text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one that says: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos)
        << "the error says: " << error.what() << "\nexpected it to say: " << text;
  }
}

std::filesystem::path shared_file(const std::string& relative) {
  const char* given = std::getenv("HQMM_SHARED");
  const std::filesystem::path base =
      given != nullptr ? std::filesystem::path(given) : source_dir() / ".." / "shared";
  const auto path = base / relative;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace hqmm::detail::testing
