// hqmm: the command line. Parses, calls the library, prints; every error leaves through here.
#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "command.hpp"
#include "hqmm/core/simd.hpp"

namespace {

using namespace hqmm;

constexpr const char* kFooter = R"(Try it:
  hqmm generate synthetic-hqmm -o data          a benchmark, with the model that made it
  hqmm score data/true_model.h5 data/test.txt   what that model's likelihood of the test set is
  hqmm inspect data/true_model.h5               what the model does

Inputs are paths, '-' for stdin; .gz is unpacked. Data goes to stdout, narration to stderr.
Exit codes: 0 ok, 2 usage, 3 diverged, 65 bad data, 66 no input, 70 internal, 73 cannot write, 130 interrupted.)";

int report(const Error& error) {
  fmt::print(stderr, "hqmm: error: {}\n", error.what());
  return exit_status(error.code());
}

/// Number of insertions, deletions and replacements that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// ", did you mean 'score'?" when something close enough is known; nothing otherwise.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = 1 + word.size() / 3;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// CLI11's message, or a better one for a word it does not know.
std::string explain(const CLI::App& app, const CLI::App& chosen, const CLI::ParseError& error,
                    int argc, char** argv) {
  if (&chosen == &app && argc > 1 && argv[1][0] != '-') {
    return fmt::format("there is no command '{}'{}", argv[1],
                       suggestion(argv[1], command_names(app)));
  }
  for (const std::string& word : chosen.remaining()) {
    if (word.starts_with("-")) {
      return fmt::format("there is no option '{}'{}", word,
                         suggestion(word.substr(0, word.find('=')), option_names(chosen)));
    }
  }
  const std::vector<std::string> commands = command_names(chosen);
  if (!commands.empty() && !chosen.remaining().empty()) {
    const std::string word = chosen.remaining().front();
    return fmt::format("there is no command '{} {}'{}", chosen.get_name(), word,
                       suggestion(word, commands));
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* chosen = &app;
  std::string help = "hqmm";
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().back();
    help += " " + chosen->get_name();
  }
  help += " --help";
  fmt::print(stderr, "hqmm: error: {} (see '{}')\n", explain(app, *chosen, error, argc, argv),
             help);
  return exit_status(ErrorCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  hqmm::cli::answer_for_crashes();
  CLI::App app("Hidden quantum Markov models: honest likelihoods of sequences.", "hqmm");
  app.set_version_flag("--version", "hqmm " HQMM_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  app.parse_complete_callback(&use_simd_limit);  // HQMM_SIMD is looked at before anything is done
  cli::add_train(app);
  cli::add_select(app);
  cli::add_classify(app);
  cli::add_score(app);
  cli::add_baseline(app);
  cli::add_predict(app);
  cli::add_sample(app);
  cli::add_inspect(app);
  cli::add_convert(app);
  cli::add_generate(app);
  cli::add_data(app);
  cli::add_reproduce(app);

  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(fail(ErrorCode::kInternal, "out of memory"));
  } catch (const std::exception& error) {
    return report(fail(ErrorCode::kInternal, "internal error: {}", error.what()));
  }
}
