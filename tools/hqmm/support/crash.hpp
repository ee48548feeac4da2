// The last resort: what a crash is answered with.
#pragma once

namespace hqmm::cli {

/// A crash of a file library on a damaged file becomes its error line and code 65, any other one
/// code 70.
void answer_for_crashes();

}  // namespace hqmm::cli
