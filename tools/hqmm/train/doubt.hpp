// Whether a trained model is any good, and what to try when it is not.
#pragma once

#include <string>

#include "hqmm/run/session.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// Where the model says less about the validation data than the frequencies of symbols in the
/// training data do, or than guessing does: that, with what may help. Nothing otherwise.
[[nodiscard]] std::string doubt_about(const Session& session, const SessionResult& found);

}  // namespace hqmm::cli
