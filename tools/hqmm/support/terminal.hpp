// What people read on stderr: the only place that writes there. It is best effort: a closed
// terminal, a full disk or a closed pipe loses the message and nothing else.
#pragma once

#include <string_view>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Text of one or more lines, made harmless.
void tell(std::string_view text);
/// One line, whatever the message holds: "hqmm: error: " and the like before it.
void tell_line(std::string_view beginning, std::string_view message);
/// In the place of the line before, on a terminal.
void tell_again(std::string_view line);

/// For signal handlers, which may do little: whatever is not plain ASCII is escaped byte by byte.
void tell_from_handler(const char* text) noexcept;

/// To be called before anything else. Standard descriptors that are closed are filled, so that no
/// file of ours becomes one of them: reading stdin and writing stdout still fails then. A closed
/// pipe and a limit on the size of files become failed writes and no longer kill.
void prepare_streams();

/// From here on nothing is said, and what goes to stdout is lost: another process speaks for us.
void be_mute();

/// Ends the program as a closed pipe ends programs; returns if it was started not to.
void end_by_closed_pipe();

}  // namespace hqmm::cli
