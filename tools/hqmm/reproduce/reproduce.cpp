// hqmm reproduce: the paper's evaluation again, and which of its claims hold. Plans
// the cells, runs what is not done yet, and leaves results, figures and a report in a folder.
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/ranks.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Study> studies_of(const std::string& which) {
  if (which == "all") return {Study::kSyntheticHmm, Study::kSyntheticHqmm, Study::kSplice};
  return {parse_study(which)};
}

/// The order of the result files.
auto sort_key(const Cell& cell) {
  return std::tuple(cell.study, cell.clean, name_of(cell.method), cell.latent_dim, cell.kraus_rank,
                    cell.ns_steps, cell.seed);
}

Reproduction gather(const ReproduceOptions& options, const ReproductionData& data,
                    std::vector<Study> studies, std::vector<CellResult> results) {
  Reproduction out;
  out.options = &options;
  out.data = &data;
  out.studies = std::move(studies);
  out.splice_missing = options.which == "all" && !out.has(Study::kSplice);
  out.results = std::move(results);
  std::sort(out.results.begin(), out.results.end(), [](const CellResult& a, const CellResult& b) {
    return sort_key(a.cell) < sort_key(b.cell);
  });
  out.groups = group_results(out.results);
  for (const auto& [study, set] : data.synthetic) {
    out.truths[study] = score_model(set.truth, set);
    const std::vector<Comparison> found = compare(out.groups, study);
    out.comparisons.insert(out.comparisons.end(), found.begin(), found.end());
  }
  out.above = above_truth(out.groups, out.truths);
  return out;
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw fail(ErrorCode::kCannotWrite, Where{.file = folder.string()},
               "the folder cannot be made: {}", failure.message());
  }
}

/// The page with its figures in a folder of their own beside it.
void write_page(const Reproduction& all, const fs::path& file, const std::string& folder,
                const char* cited) {
  make_folder(file.parent_path() / folder);
  for (const NamedFigure& one : figures(all))
    write_file((file.parent_path() / folder / one.file).string(), one.svg);
  write_file(file.string(), page(all, folder, cited));
}

void write_results(const Reproduction& all, const Json& json) {
  const fs::path folder = all.options->common.out;
  write_file((folder / "results.csv").string(), results_csv(all));
  write_file((folder / "seconds.csv").string(), seconds_csv(all));
  write_file((folder / "results.json").string(), dump(json));
  if (!all.truths.empty()) write_file((folder / "first-look.md").string(), first_look(all));
  write_page(all, folder / "report.md", "figures", "see CITATION.cff of hqmm");
  if (!all.options->docs.empty()) {
    const fs::path docs = all.options->docs;
    write_page(all, docs, docs.stem().string(), "[CITATION.cff](../CITATION.cff)");
  }
}

/// The results take the place of nothing that was published.
void require_own_results(const ReproduceOptions& options) {
  const fs::path out = options.common.out, data = options.data;
  std::vector<NamedFile> outputs, inputs;
  for (const char* name :
       {"results.csv", "seconds.csv", "results.json", "first-look.md", "report.md"})
    outputs.push_back({"-o", (out / name).string()});
  outputs.push_back({"--write-docs", options.docs});
  for (const char* study : {"synthetic-hmm", "synthetic-hqmm"})
    for (const char* name : {"train.txt", "validation.txt", "test.txt"})
      if (!options.data.empty()) inputs.push_back({"--data", (data / study / name).string()});
  if (const auto splice = find_splice(options.data))
    inputs.push_back({"the splice data", splice->string()});
  require_other_files(outputs, inputs);
}

void run_reproduce(const ReproduceOptions& options) {
  if (options.which == "zoo") {
    if (!is_other_rank()) reproduce_zoo(options);
    return;
  }
  require_own_results(options);
  leave_on_interrupts();
  Ranks* const others = ranks();
  std::vector<Study> studies = studies_of(options.which);
  const ReproductionData data = find_data(options, studies);
  PlanOptions how;
  how.studies = studies;
  how.seeds = options.seeds;
  how.first_seed = options.common.seed;
  how.quick = options.quick;
  const std::vector<Cell> plan = make_plan(how);
  if (others != nullptr && !others->leads()) {
    help_cells(options, plan, data, *others);
    return;
  }
  if (options.which == "all" && !data.splice)
    narrate(options.common,
            "splice is skipped: there is no splice.data in --data "
            "or $HQMM_DATA (fetch it with 'hqmm data splice')");
  narrate(options.common, fmt::format("{} cells; data: {}", plan.size(), data.source));
  const Reproduction all = gather(options, data, studies, run_cells(options, plan, data));
  const Json json = results_json(all);
  write_results(all, json);
  for (const AboveTruth& one : all.above)
    warn(
        fmt::format("{} scores above the true model by {:.4f}, "
                    "{:.1f} standard errors: a bug or rare luck",
                    describe(one.cell), one.test.difference, one.test.t.value_or(0.0)));
  Output output(readers_of(options.common));
  output.write(options.common.json ? dump(json) : terminal_tables(all));
  output.finish();
  narrate(options.common,
          fmt::format("report.md, results.csv, results.json and figures → {}", options.common.out));
}

}  // namespace

std::string ReproduceOptions::command() const {
  std::string out = "hqmm reproduce " + which;
  if (quick) out += " --quick";
  if (!quick && which != "zoo") out += fmt::format(" --seeds {}", seeds);
  if (common.seed != 1) out += fmt::format(" --seed {}", common.seed);
  if (!data.empty()) out += " --data " + data;
  if (time_limit != ReproduceOptions().time_limit)
    out += fmt::format(" --time-limit {}", time_limit);
  return out;
}

void add_reproduce(Command program) {
  auto options = std::make_shared<ReproduceOptions>();
  options->common.out = "reproduction";
  Command command =
      program.add_subcommand("reproduce", "Repeat the paper's evaluation and check its claims")
          .group("Learn");
  command
      .add_option(
          "STUDY", options->which,
          "synthetic-hmm, synthetic-hqmm, splice or all of them; zoo: the smallest models of "
          "the processes of 'hqmm generate'")
      .required()
      .check(one_of({"synthetic-hmm", "synthetic-hqmm", "splice", "all", "zoo"}))
      .type_name("");
  command.add_option("--seeds", options->seeds, "Training runs of every method and size")
      .check(whole_number(1, 1000))
      .capture_default_str()
      .group("Study")
      .type_name("N");
  command.add_flag("--quick", options->quick, "A few sizes and one seed: done in a minute")
      .group("Study");
  command
      .add_option("--data", options->data,
                  "Folder with the published files (synthetic-hmm/train.txt …, "
                  "splice/splice.data); by default the synthetic sets are generated again, and "
                  "splice.data is taken from $HQMM_DATA")
      .group("Study")
      .type_name("DIR");
  command
      .add_option("--time-limit", options->time_limit,
                  "Seconds for each run of Givens search; one that reaches it is marked")
      .check(positive_number())
      .capture_default_str()
      .group("Study")
      .type_name("SECONDS");
  command
      .add_option("--write-docs", options->docs,
                  "Write the report here as well, with its figures in a folder next to it")
      .group("Output")
      .type_name("FILE");
  add_common(command, options->common,
             "Folder for results, figures and the report; existing results in it are kept");
  command.option("--out").capture_default_str();
  command.footer(
      "After an interruption, the same command continues with the first run that is not done. "
      "Each run takes one of\nthe --threads threads; results do not depend on their number.\n\n"
      "Examples:\n  hqmm reproduce all --quick\n  hqmm reproduce synthetic-hmm --seeds 3 -o out\n"
      "  HQMM_DATA=data hqmm reproduce all\n"
      "  hqmm reproduce zoo");
  command.callback([options] { run_reproduce(*options); });
}

}  // namespace hqmm::cli
