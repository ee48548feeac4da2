// hqmm: the command line. Parses, calls the library, prints; every error leaves through here.
#include <exception>
#include <new>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/version.hpp"
#include "support/command.hpp"
#include "support/crash.hpp"
#include "support/output.hpp"
#include "support/ranks.hpp"
#include "support/terminal.hpp"
#include "support/words.hpp"

namespace {

using namespace hqmm;
using namespace hqmm::detail;

constexpr const char* kFooter = R"(Try it:
  hqmm generate synthetic-hqmm -o data          a benchmark, with the model that made it
  hqmm score data/true_model.h5 data/test.txt   the model's likelihood on the test set
  hqmm inspect data/true_model.h5               what the model does

Inputs are paths, '-' for stdin; gzip, xz, bzip2 and zstd are unpacked. Data goes to stdout, narration to stderr.
Exit codes: 0 ok, 2 usage, 3 diverged, 65 bad data, 66 no input, 70 internal, 73 cannot write, 130 interrupted.)";

int report(const Error& error) {
  cli::leave_ranks_with_failure();
  if (cli::is_other_rank()) cli::fail_on_other_rank(std::make_exception_ptr(error));
  cli::tell_line("hqmm: error: ", error.text(cli::flag_words) + cli::advice_on(error));
  return exit_status(error.code());
}

}  // namespace

int main(int argc, char** argv) {
  cli::prepare_streams();
  cli::answer_for_crashes();
  if (cli::is_other_rank()) {
    cli::be_mute();
    if (!cli::is_shared_command(argc, argv)) return 0;
  }
  if (cli::is_shared_command(argc, argv)) cli::begin_as_rank();
  cli::CommandLine line("hqmm", "Hidden quantum Markov models: honest likelihoods of sequences.",
                        "hqmm " HQMM_VERSION "\nGPU engine: " + cuda_version_text());
  line.before_command(&use_simd_limit);  // HQMM_SIMD is looked at before anything is done
  const cli::Command program = line.command();
  program.footer(kFooter);
  cli::add_commands(program);

  try {
    const int status = line.run(argc, argv);
    if (status == 0) {
      cli::leave_ranks();
    } else if (cli::is_other_rank()) {
      return report(fail(ErrorCode::kUsage, "the command cannot be used"));
    } else {
      cli::leave_ranks_with_failure();  // the parser has said it
    }
    return status;
  } catch (const cli::ClosedPipe& closed) {
    cli::end_by_closed_pipe();
    return report(fail(ErrorCode::kCannotWrite, "{}", closed.what()));
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(fail(ErrorCode::kInternal, "out of memory"));
  } catch (const std::exception& error) {
    return report(fail(ErrorCode::kInternal, "internal error: {}", error.what()));
  }
}
