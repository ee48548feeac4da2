// Shared by the tests: where optional reference material is, random test objects.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"

namespace hqmm::testing {

/// The call must throw an Error of this code whose line holds `text`.
template <typename Call>
void expect_error(ErrorCode code, std::string_view text, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one that says: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos)
        << "the error says: " << error.what() << "\nexpected it to say: " << text;
  }
}

/// A file of the reference material kept beside the project (../shared, or $HQMM_SHARED); empty
/// when it is not there.
inline std::filesystem::path shared_file(const std::string& relative) {
  const char* given = std::getenv("HQMM_SHARED");
  const std::filesystem::path base = given
                                         ? std::filesystem::path(given)
                                         : std::filesystem::path(HQMM_SOURCE_DIR) / ".." / "shared";
  const auto path = base / relative;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace hqmm::testing

/// Defines `name` as a path below ../shared, or skips the test when that is not there.
#define HQMM_SHARED_OR_SKIP(name, relative)                 \
  const auto name = ::hqmm::testing::shared_file(relative); \
  if (name.empty()) GTEST_SKIP() << "skipped: reference file " relative " not found"
