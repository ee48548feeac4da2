// hqmm: the command line. Parses, calls the library, prints; every error leaves through here.
#include <new>

#include "command.hpp"

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

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* chosen = &app;
  for (const CLI::App* sub : app.get_subcommands()) chosen = sub;
  const std::string help = chosen == &app ? "hqmm --help" : "hqmm " + chosen->get_name() + " --help";
  std::string message = error.what();
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "hqmm: error: {} (see '{}')\n", message, help);
  return exit_status(ErrorCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Hidden quantum Markov models: honest likelihoods of sequences.", "hqmm");
  app.set_version_flag("--version", "hqmm " HQMM_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  cli::add_score(app);
  cli::add_predict(app);
  cli::add_sample(app);
  cli::add_inspect(app);
  cli::add_convert(app);
  cli::add_generate(app);

  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(fail(ErrorCode::kInternal, "out of memory"));
  } catch (const std::exception& error) {
    return report(fail(ErrorCode::kInternal, "internal error: {}", error.what()));
  }
}
