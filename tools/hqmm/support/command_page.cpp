#include "support/command_page.hpp"

#include <algorithm>

namespace hqmm::cli {
namespace {

bool has_word(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

void add_below(const CommandPage& command, std::vector<const CommandPage*>& out) {
  for (const CommandPage& below : command.commands) {
    out.push_back(&below);
    add_below(below, out);
  }
}

}  // namespace

ValueKind value_kind(const OptionPage& option) {
  if (!option.words.empty()) return ValueKind::kWords;
  if (option.positional) return ValueKind::kFiles;
  if (has_word(option.value, "DIR")) return ValueKind::kFolders;
  for (const char* file : {"PATH", "FILE", "MODEL"})
    if (has_word(option.value, file)) return ValueKind::kFiles;
  return ValueKind::kNone;
}

std::vector<const CommandPage*> all_commands(const CommandPage& program) {
  std::vector<const CommandPage*> out;
  add_below(program, out);
  return out;
}

std::string path_of(const CommandPage& command) {
  const std::size_t space = command.name.find(' ');
  return space == std::string::npos ? "" : command.name.substr(space + 1);
}

}  // namespace hqmm::cli
