// What the parser knows of a command, as plain data: manual pages and completion are written from
// it, so neither can say anything that the parser does not do.
#pragma once

#include <string>
#include <vector>

#include "support/internals.hpp"

namespace hqmm::cli {

struct OptionPage {
  std::vector<std::string> names;  // "-n", "--latent-dim"; of a positional only "DATA"
  std::string group;               // headline in the help
  std::string value;               // what stands for the value, "N"; empty: a flag
  std::string help;
  std::string default_text;
  std::vector<std::string> words;  // the only values there are; empty: others, too
  bool positional = false;
  bool required = false;
  bool repeated = false;
  bool optional_value = false;
};

struct CommandPage {
  std::string name;  // "hqmm classify fit"
  std::string summary;
  std::string group;
  std::string footer;  // paragraphs and examples
  std::vector<OptionPage> options;
  std::vector<CommandPage> commands;

  /// "fit", the last word of its name.
  [[nodiscard]] std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

/// The kinds of values that completion knows.
enum class ValueKind { kNone, kWords, kFiles, kFolders };
[[nodiscard]] ValueKind value_kind(const OptionPage& option);

/// The names of all commands and their own, "train" and "classify fit", with their pages.
[[nodiscard]] std::vector<const CommandPage*> all_commands(const CommandPage& program);
/// "classify fit" of "hqmm classify fit"; nothing of the program itself.
[[nodiscard]] std::string path_of(const CommandPage& command);

/// Scripts that complete the words of the program.
[[nodiscard]] std::string bash_completion(const CommandPage& program);
[[nodiscard]] std::string zsh_completion(const CommandPage& program);
[[nodiscard]] std::string fish_completion(const CommandPage& program);

/// The page of one command in the language of man.
[[nodiscard]] std::string manual_page(const CommandPage& command, const std::string& version);

}  // namespace hqmm::cli
