// Flags of the library's option tables.
#pragma once

#include <string>

#include "hqmm/learn/option_table.hpp"
#include "support/command_line.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// The flag of an option, "-n,--latent-dim", with its help and its check.
[[nodiscard]] OptionText flag_of(const OptionInfo& option, const std::string& default_text = {});

/// One flag of a command: a value that was given goes into `given`, which must outlive the parsing.
Option add_flag_of(Command command, const OptionInfo& option, GivenOptions& given,
                   const std::string& default_text = {});

}  // namespace hqmm::cli
