// What the command line calls things that the library speaks of.
#pragma once

#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"
#include "support/internals.hpp"

namespace hqmm {
class Error;
}

namespace hqmm::cli {

/// "--latent-dim 4" for latent_dim and 4: an OptionNames.
[[nodiscard]] std::string flag_words(std::string_view id, std::string_view value);

/// The command that helps, to be written after the message; mostly nothing.
[[nodiscard]] std::string advice_on(const Error& error);

}  // namespace hqmm::cli
