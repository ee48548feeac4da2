// Shared by the tests: errors that are expected, and where files beside the tests are.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"

namespace hqmm::detail::testing {

/// The call must throw an Error of this code whose line holds `text`.
void expect_error(ErrorCode code, std::string_view text, const std::function<void()>& call);

/// The root of the source tree.
const std::filesystem::path& source_dir();

/// A file of the reference material kept beside the project (../shared, or $HQMM_SHARED); empty
/// when it is not there.
std::filesystem::path shared_file(const std::string& relative);

}  // namespace hqmm::detail::testing

/// Defines `name` as a path below ../shared, or skips the test when that is not there.
#define HQMM_SHARED_OR_SKIP(name, relative)                         \
  const auto name = ::hqmm::detail::testing::shared_file(relative); \
  if (name.empty()) GTEST_SKIP() << "skipped: reference file " relative " not found"
