// hqmm help COMMAND, hqmm completion SHELL, and the manual pages that the build asks for.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hqmm/io/atomic_file.hpp"
#include "hqmm/version.hpp"
#include "support/command.hpp"
#include "support/command_page.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

void print_help(Command command, const std::vector<std::string>& words) {
  for (const std::string& word : words) command = command.subcommand(word);
  Output output(Readers::kPeople);
  output.write(command.help());
  output.finish();
}

void print_completion(const CommandPage& program, const std::string& shell) {
  Output output(Readers::kPrograms);
  output.write(shell == "bash"  ? bash_completion(program)
               : shell == "zsh" ? zsh_completion(program)
                                : fish_completion(program));
  output.finish();
}

void write_page(const CommandPage& command, const std::filesystem::path& folder) {
  std::string name = command.name;
  for (char& c : name) c = c == ' ' ? '-' : c;
  write_file((folder / (name + ".1")).string(), manual_page(command, "hqmm " HQMM_VERSION));
}

/// Everything that is installed beside the program, below one folder.
void write_pages(const CommandPage& program, const std::filesystem::path& folder) {
  require_writable_place(folder.string() + "/hqmm.1");
  write_page(program, folder);
  for (const CommandPage* command : all_commands(program)) write_page(*command, folder);
  write_file((folder / "hqmm.bash").string(), bash_completion(program));
  write_file((folder / "_hqmm").string(), zsh_completion(program));
  write_file((folder / "hqmm.fish").string(), fish_completion(program));
}

}  // namespace

void add_help(Command program) {
  auto words = std::make_shared<std::vector<std::string>>();
  Command command = program.add_subcommand("help", "Show the help of a command").group("Help");
  std::vector<std::string> names;
  for (const CommandPage& page : program.page().commands) names.push_back(page.last_name());
  // Command::subcommand() reports an unknown name, with what was probably meant.
  const ValueCheck any{[](const std::string&) { return std::string(); }, "", names};
  command.add_option("COMMAND", *words, "A command, such as score or classify fit")
      .check(any)
      .type_name("");
  command.footer("Examples:\n  hqmm help train\n  hqmm help classify fit");
  command.callback([program, words] { print_help(program, *words); });
}

void add_completion(Command program) {
  auto shell = std::make_shared<std::string>();
  Command command =
      program.add_subcommand("completion", "Print a script that completes commands in your shell")
          .group("Help");
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      .required()
      .check(one_of({"bash", "zsh", "fish"}))
      .type_name("");
  command.footer(R"('cmake --install' puts all three where the shells look for them. Otherwise:

Examples:
  source <(hqmm completion bash)                                  # for this shell; in ~/.bashrc for all
  hqmm completion zsh > "${fpath[1]}/_hqmm"
  hqmm completion fish > ~/.config/fish/completions/hqmm.fish)");
  command.callback([program, shell] { print_completion(program.page(), *shell); });
}

void add_manual(Command program) {
  auto folder = std::make_shared<std::string>();
  Command command =
      program.add_subcommand("manual", "Write manual pages and completion, for the build")
          .group("");
  command.add_option("FOLDER", *folder, "An existing folder").required().type_name("");
  command.callback([program, folder] { write_pages(program.page(), *folder); });
}

}  // namespace hqmm::cli
