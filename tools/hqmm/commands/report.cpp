// hqmm report THING…: one page in a browser about runs, models and what other commands found.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/report/report.hpp"
#include "support/command.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct ReportFlags {
  CommonOptions common;
  DataOptions reading;
  std::vector<std::string> things;
  std::string title;
  std::string data;
  std::string truth;
  std::uint64_t burn_in = 0;
  std::uint64_t most_epochs = 1000;
};

std::vector<NamedFile> inputs_of(const ReportFlags& flags) {
  std::vector<NamedFile> out{{"--data", flags.data}, {"--truth", flags.truth}};
  for (const std::string& thing : flags.things) out.push_back({"THING", thing});
  return out;
}

void run_report(const ReportFlags& flags) {
  if (!flags.common.json && !has_report_page())
    throw fail(ErrorCode::kUsage,
               "this hqmm was built without npm and has no page to write: install nodejs and npm, "
               "build it again ('./dev build'), or take the document itself (--json)");
  if (!flags.truth.empty() && flags.data.empty())
    throw fail(ErrorCode::kUsage, "--truth is scored on --data, which is missing");
  require_other_files({{"-o", flags.common.out}}, inputs_of(flags));
  ReportOptions options;
  options.title = flags.title;
  options.truth = flags.truth;
  options.most_epochs = flags.most_epochs;
  options.threads = flags.common.threads;
  if (!flags.data.empty())
    options.data =
        ReportData{flags.data, read_sequences(flags.data, flags.reading.resolve()), flags.burn_in};
  const std::string document = report_document(flags.things, options);
  if (flags.common.json) {
    Output output(Readers::kPrograms, flags.common.out);
    output.write(document + "\n");
    output.finish();
    return;
  }
  const std::string path = flags.common.out.empty() ? "report.html" : flags.common.out;
  write_file(path, report_page(document));
  narrate(flags.common, fmt::format("report → {} (open it in a browser)", path));
}

}  // namespace

void add_report(Command program) {
  auto flags = std::make_shared<ReportFlags>();
  Command command =
      program.add_subcommand("report", "Make a page for the browser about runs, models and results")
          .group("Use a model")
          .footer(
              "Examples:\n"
              "  hqmm report runs/a -o report.html                how a training went\n"
              "  hqmm report runs/* --data test.txt               runs, scored on the same data\n"
              "  hqmm report model.h5 splice.h5                   a model, a classifier\n"
              "  hqmm report reproduction/ docs/studies/dna.json  what was measured\n"
              "The page opens offline and loads nothing else. "
              "Every figure has its numbers beside it.");
  command
      .add_option("THING", flags->things,
                  "Run folder, model or classifier file, folder of reproduce, or the JSON of "
                  "cross-validate or a study")
      .required();
  command.add_option("--data", flags->data, "Score all models on these sequences and compare them")
      .group("Scores");
  command
      .add_option("--truth", flags->truth,
                  "The model that made the data; a line in the curves of "
                  "runs that were validated on --data")
      .group("Scores");
  command.add_option("--burn-in", flags->burn_in, "Symbols at the start that are not scored")
      .group("Scores")
      .capture_default_str();
  command.add_option("--title", flags->title, "Title of the page; by default the first name");
  command
      .add_option("--most-epochs", flags->most_epochs,
                  "Most epochs drawn for a run; longer histories are thinned")
      .check(whole_number(10, 100000))
      .capture_default_str();
  flags->reading.add_to(command);
  add_common(command, flags->common,
             "File for the page (with --json: for the document); by "
             "default report.html");
  command.callback([flags] { run_report(*flags); });
}

}  // namespace hqmm::cli
