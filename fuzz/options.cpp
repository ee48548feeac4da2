// The command line, a word per line: understood or refused; the command itself does not run.
#include <vector>

#include "support/command.hpp"
#include "target.hpp"

namespace hqmm::fuzz {
namespace {

struct Understood {};

std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> out{"hqmm"};
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    out.emplace_back(bytes.substr(0, end).substr(0, bytes.find('\0')));  // no argument holds a NUL
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  return out;
}

}  // namespace

void options(std::string_view bytes) {
  std::vector<std::string> words = words_of(bytes);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  cli::CommandLine line("hqmm", "", "hqmm 0");
  cli::add_commands(line.command());
  line.before_command([] { throw Understood(); });
  try {
    read_or_refuse([&] { (void)line.run(count, arguments.data()); });
  } catch (const Understood&) {  // every word; the command would run now
  }
}

}  // namespace hqmm::fuzz
