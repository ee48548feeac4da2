// The page that report/ makes, as one text; empty in a build without npm. Written by the build.
#pragma once

#include <string_view>

namespace hqmm::detail::report {

extern const std::string_view kPage;

}  // namespace hqmm::detail::report
