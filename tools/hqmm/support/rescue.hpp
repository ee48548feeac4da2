// A model that took hours is not lost to a full disk.
#pragma once

#include <functional>
#include <string>

#include "hqmm/core/error.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

[[nodiscard]] Error with_advice(const Error& error, const std::string& advice);

/// Runs `write`. If that fails, `hdf5` goes into a new file in the temporary folder, readable by
/// this user only, and the error says where `what` is.
void write_or_rescue(const char* what, const std::function<void()>& write,
                     const std::function<std::string()>& hdf5);

}  // namespace hqmm::cli
