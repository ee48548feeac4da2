// How a training went as SVG text: bits per symbol by epoch.
#pragma once

#include <string>

namespace hqmm::detail {

/// Training and validation of the start that won, the validation of the others, the best epoch
/// marked. `history` is the text of a history.jsonl, `file` its name in messages. The same text
/// gives the same bytes. Throws kBadData when it is damaged or holds no epoch.
[[nodiscard]] std::string draw_history_svg(const std::string& title, const std::string& history,
                                           const std::string& file);

}  // namespace hqmm::detail
