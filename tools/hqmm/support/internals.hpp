// The commands are written against hqmm::detail as well as against what is public; HACKING.md, "The
// boundary", says why.
#pragma once

namespace hqmm {
namespace detail {}
namespace cli {
using namespace detail;
}  // namespace cli
}  // namespace hqmm
