// Commands and options, as the rest of the program sees them. Only command_line.cpp knows the
// parser (CLI11), which takes longer to compile than most commands.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/command_page.hpp"
#include "support/internals.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hqmm::cli {

/// Which values an option takes.
struct ValueCheck {
  /// Says what is wrong with a value; empty when nothing is.
  std::function<std::string(const std::string&)> fault;
  std::string shown;                 // after the type name in the help; mostly nothing
  std::vector<std::string> words{};  // the only values there are, for completion

  explicit operator bool() const { return fault != nullptr; }
};

[[nodiscard]] ValueCheck whole_number(
    std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
/// A whole number, or "auto".
[[nodiscard]] ValueCheck count_or_auto();
[[nodiscard]] ValueCheck one_of(std::vector<std::string> words);
[[nodiscard]] ValueCheck number_between(double least, double most);
[[nodiscard]] ValueCheck positive_number();

/// The variable that a value goes to; it must outlive the parsing. A bool makes a flag.
class Target {
 public:
  template <typename Variable>
  Target(Variable& variable) : place_(&variable) {}  // NOLINT(google-explicit-constructor)

 private:
  friend class Command;
  std::variant<std::string*, bool*, int*, std::int64_t*, std::uint64_t*, double*,
               std::optional<int>*, std::vector<std::string>*, std::vector<std::int64_t>*,
               std::vector<std::uint64_t>*>
      place_;
};

/// One option as --help shows it: a row of a table of options.
struct OptionText {
  std::string names;  // "-n,--latent-dim"; "--yes,!--no" for a flag with an opposite; "DATA"
  std::string group;  // headline in the help
  std::string type_name;
  std::string help;
  ValueCheck check{};          // none: any value
  std::string default_text{};  // what the help says is taken when nothing is given
  bool flag = false;           // takes no value
};

/// A handle of an option of a command; copies are of the same one.
class Option {
 public:
  Option() = default;
  explicit Option(CLI::Option* option) : option_(option) {}

  Option check(const ValueCheck& check) const;
  Option group(const std::string& headline) const;  // of the help; "" hides the option
  Option type_name(const std::string& name) const;
  Option required() const;
  /// The two cannot be given together.
  Option excludes(const Option& other) const;
  /// Values of a list may be written in one word, with this between them.
  Option delimiter(char mark) const;
  /// A list is one word: the next words do not belong to it.
  Option one_word() const;
  /// Without a value the option leaves the variable empty.
  Option optional_value() const;
  /// The value that the variable has now is the default that the help shows.
  Option capture_default_str() const;

  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;  // "--latent-dim"
  [[nodiscard]] bool has_long_name(const std::string& name) const;

 private:
  friend class Command;
  CLI::Option* option_ = nullptr;
};

/// A handle of a command: of the program itself, or of a subcommand.
class Command {
 public:
  Command() = default;
  explicit Command(CLI::App* app) : app_(app) {}

  Option add_option(const std::string& names, const Target& target, const std::string& help) const;
  /// "--yes,!--no": the second one sets it to false.
  Option add_flag(const std::string& names, bool& target, const std::string& help) const;
  /// A row of a table, its value put into a variable, or handed to a function when it was given:
  /// the text of the value, "true" or "false" of a flag.
  Option add(const OptionText& text, const Target& target) const;
  Option add(const OptionText& text, const std::function<void(const std::string&)>& set) const;

  Command add_subcommand(const std::string& name, const std::string& help) const;
  Command group(const std::string& headline) const;
  Command footer(const std::string& text) const;
  /// What to run when the command was chosen.
  Command callback(std::function<void()> run) const;
  /// One of its subcommands must be given.
  Command require_subcommand() const;

  [[nodiscard]] Option option(const std::string& name) const;
  [[nodiscard]] std::vector<Option> options() const;
  /// The command below this one that a word names. Throws kUsage when there is none.
  [[nodiscard]] Command subcommand(const std::string& name) const;
  /// What --help prints.
  [[nodiscard]] std::string help() const;
  /// The same as data, with the commands below; without what the help hides.
  [[nodiscard]] CommandPage page() const;

 private:
  static Option described(Option option, const OptionText& text);

  CLI::App* app_ = nullptr;
};

/// The command line of the whole program.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] Command command() const { return Command(app_.get()); }
  /// Run when all words are understood, before the command.
  void before_command(std::function<void()> run);
  /// Parses and runs the command; returns the exit code. Wrong usage becomes one line on stderr;
  /// what a command throws passes through.
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace hqmm::cli
