// The report of a reproduction in Markdown: written from the results, every figure with the command
// that makes it. Only what the paper printed is quoted; sentences that judge are chosen by the
// numbers they judge.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/simd.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/reproduce.hpp"

namespace hqmm::cli {
namespace {

class Page {
 public:
  Page(const Reproduction& all, std::string figures) : all_(all), figures_(std::move(figures)) {}

  std::string run() {
    head();
    out_ += "## In short\n\n" + claims(all_) + "\n";
    for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm})
      if (all_.has(study)) synthetic(study);
    if (all_.has(Study::kSyntheticHmm)) {
      why();
      step_sizes();
    }
    if (!all_.comparisons.empty()) tests();
    if (all_.has(Study::kSplice)) splice();
    pictures();
    tail();
    return out_;
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  [[nodiscard]] std::string command_of(Study study) const {
    ReproduceOptions options = *all_.options;
    options.which = name_of(study);
    return options.command();
  }

  [[nodiscard]] const Group* find(Study study, const char* method, Index n, Index w,
                                  bool clean = true, int steps = 5) const {
    return find_group(all_.groups, study, method, n, w, clean, steps);
  }

  void head() {
    say("# The paper's evaluation, again\n");
    say("Written by `{}` (hqmm {}, {} instructions) from its result files; do not edit.",
        all_.options->command(), HQMM_VERSION, simd_target());
    say("Data: {}. {} of every method and size; figures are means over seeds, ± their standard "
        "deviation.",
        all_.data->source,
        all_.options->quick || all_.options->seeds == 1
            ? std::string("One training run")
            : fmt::format("{} training runs", all_.options->seeds));
    if (all_.options->quick)
      say("A quick look: few sizes, one seed. `hqmm reproduce all` is the whole of it.");
    if (all_.splice_missing) say("Splice is left out: there was no splice.data.");
    say("");
  }

  void synthetic(Study study) {
    const SyntheticOutcome& truth = all_.truths.at(study);
    say("## {}\n", study == Study::kSyntheticHmm ? "Synthetic HMM" : "Synthetic HQMM");
    say("Test description accuracy (0: guessing, 1: knowing); the true model has {:.4f} on the "
        "training, {:.4f} on the validation and {:.4f} on the test sequences. `{}`\n",
        truth.train.da, truth.validation.da, truth.test.da, command_of(study));
    out_ += accuracy_table(all_, study, true);
    say("\n*literal raw*: the paper's algorithm by its own reckoning; *normalised*: the same "
        "models, "
        "predictions divided by their sum; *feasible*: its protocol with a convergent retraction; "
        "*ours*: our recipe, at w = 1 the better of two starts by validation; *EM*: an HMM of n "
        "states, 16 restarts; *from EM*: ours, started from "
        "that HMM, w = n; *best*: the size with the best validation score.{}{}\n",
        study == Study::kSyntheticHmm
            ? fmt::format(" The paper printed its best figure only, beside {:.4f} for COSM.",
                          paper::kHmmBestCosm)
            : fmt::format(" The paper printed {:.4f} for COSM.", paper::kHqmmCosm),
        bounded(study) ? " \\*: stopped at `--time-limit`; on another machine it gets further."
                       : "");
    say("Processor seconds of learning and scoring{}:\n",
        study == Study::kSyntheticHqmm ? fmt::format(" (the paper: {:.2f}, COSM {:.2f})",
                                                     paper::kHqmmSeconds, paper::kHqmmCosmSeconds)
                                       : "");
    out_ += seconds_table(all_, study);
    say("\n<details><summary>Training, validation and test accuracy of everything"
        "</summary>\n\n{}\n</details>\n",
        split_table(all_, study));
  }

  void step_sizes() {
    const std::string table = step_size_table(all_);
    if (table.empty()) return;
    say("## How much hangs on the step size\n");
    say("The paper says that NS-RIS ran with the step sizes η and decays α published for COSM, but "
        "for n = 4, where it tuned its own and does not print them; there, and in the columns "
        "*small*, we take η = 0.2 and α = 0.95 (`hqmm train --preset paper`). COSM's were tuned "
        "for batches of 20; with the batches of 1 that the paper gives NS-RIS, steps that long "
        "never settle. The literal figures are artefacts either way. "
        "`{}`\n",
        command_of(Study::kSyntheticHmm));
    out_ += table + "\n";
  }

  [[nodiscard]] bool bounded(Study study) const {
    return std::any_of(all_.groups.begin(), all_.groups.end(), [&](const Group& group) {
      return group.cell.study == study && group.time_bounded;
    });
  }

  /// The polynomial's range, the normalisation identity and the parity of T.
  void why() {
    const Range five = literal_range(5);
    say("## Why the literal figures are too high\n");
    say("The paper retracts with the polynomial f(x) = 3.4445x − 4.7750x³ + 2.0315x⁵ that makes "
        "its direction. It has no attracting fixed point at 1: after five steps singular values "
        "lie "
        "anywhere in [{:.3f}, {:.3f}]. Then the weights of the symbols, tr K_y(ρ), do not sum to 1 "
        "but to something between σ²_min and σ²_max, and the raw accuracy exceeds the normalised "
        "one by the mean logarithm (to base 6) of that sum: between 2 ln σ_min / ln 6 and "
        "2 ln σ_max / ln 6, by arithmetic alone. A Γ whose n singular values are equal has them at "
        "c = f⁵(1/√n) after the retraction:\n",
        five.least, five.greatest);
    say("| n | c = f⁵(1/√n) | singular values found | gain they allow | gain found (raw − "
        "normalised) |\n|--:|--:|--:|--:|--:|");
    for (Index n = 2; n <= 6; ++n) {
      const Group* group = find(Study::kSyntheticHmm, "ns-ris-literal", n, 1);
      if (group == nullptr) continue;
      say("| {} | {:.4f} | {:.3f} … {:.3f} | {:+.4f} … {:+.4f} | {:+.4f} |", n, literal_scale(n, 5),
          group->smallest_singular, group->largest_singular, raw_gain(group->smallest_singular, 6),
          raw_gain(group->largest_singular, 6), group->raw.mean - group->test.mean);
    }
    say("\n(`{}`, w = 1.)", command_of(Study::kSyntheticHmm));
    parity();
    say("");
  }

  void parity() {
    std::string rows;
    for (int steps = 2; steps <= 12; ++steps) {
      const Group* group = find(Study::kSyntheticHmm, "ns-ris-literal-small", 6, 2, true, steps);
      if (group == nullptr) continue;
      rows += fmt::format("| {} | {:.4f} | {:.4f} | {:.4f} | {} |\n", steps,
                          literal_scale(6, steps), group->raw_last.mean, group->last.mean,
                          group->best_epoch.mean == 0.0
                              ? "none, the random start"
                              : fmt::format("{:.0f}", group->best_epoch.mean));
    }
    if (rows.empty()) return;
    say("\nWhich way it errs depends on whether T, the number of steps, is odd or even. At the "
        "last "
        "epoch, on the validation sequences (true model {:.4f}), n = 6, w = 2, η = 0.2, α = 0.95, "
        "same command:\n",
        all_.truths.at(Study::kSyntheticHmm).validation.da);
    say("| T | c = f^T(1/√6) | raw | normalised | epoch the raw likelihood picks |\n"
        "|--:|--:|--:|--:|--:|");
    out_ += rows;
  }

  [[nodiscard]] static std::string describe_group(const Cell& cell) {
    return fmt::format("{}, n = {}{}", cell.method, cell.latent_dim,
                       cell.kraus_rank > 0 ? fmt::format(", w = {}", cell.kraus_rank) : "");
  }

  void tests() {
    say("## Paired tests\n");
    say("Differences of test accuracy, sequence by sequence (means over seeds first), by Student's "
        "paired t; p after Holm's correction for all tests of the same study. Our recipe's w is "
        "the "
        "one with the best validation score. Differences below 0.0005 we call ties whatever p.\n");
    say("| study | a | b | a − b | s.e. | t | p (Holm) |\n|---|---|---|--:|--:|--:|--:|");
    for (const Comparison& one : all_.comparisons) {
      say("| {} | {} | {} | {:+.4f} | {:.4f} | {} | {:.2g} |", name_of(one.study),
          describe_group(one.a), describe_group(one.b), one.test.difference,
          one.test.standard_error, one.test.t ? fmt::format("{:.1f}", *one.test.t) : "–",
          one.corrected_p);
    }
    say("");
  }

  void splice() {
    say("## Splice\n");
    say("Mean of the error rates of EI, IE and N, five folds, means over seeds; lower is better. "
        "{} rows without ambiguous letters. COSM and NS-RIS, literal and feasible, take batches of "
        "200 and the step sizes published for COSM; EM has five starts. `{}`\n",
        all_.data->splice->size(), command_of(Study::kSplice));
    say("**Clean protocol**: the epoch is picked inside the training folds, identical rows stay "
        "together.\n");
    out_ += splice_table(all_, true);
    say("\n**The peers' protocol**: the epoch is picked on the scored fold itself, and identical "
        "rows may be on both sides; the figures are too small.\n");
    out_ += splice_table(all_, false);
    class_errors();
    say("\nNone of these models knows where in the window it is, which is what tells the classes "
        "apart.\n");
  }

  void class_errors() {
    std::string rows;
    for (const paper::ClassErrors& printed : paper::kClassErrors) {
      const auto three = [](const auto& e) {
        return fmt::format("{:.3f} / {:.3f} / {:.3f}", e[0], e[1], e[2]);
      };
      rows += fmt::format("| ({}, {}) | paper, as printed | {} | {} |\n", printed.n, printed.w,
                          three(printed.cosm), three(printed.ns_ris));
      for (const bool clean : {false, true}) {
        const Group* cosm = find(Study::kSplice, "cosm", printed.n, printed.w, clean);
        const Group* ours = find(Study::kSplice, "ns-ris-paper", printed.n, printed.w, clean);
        if (cosm == nullptr || ours == nullptr || cosm->class_errors.size() != 3) return;
        rows += fmt::format("| ({}, {}) | {} | {} | {} |\n", printed.n, printed.w,
                            clean ? "clean" : "peers' protocol", three(cosm->class_errors),
                            three(ours->class_errors));
      }
    }
    say("\nErrors of EI / IE / N:\n\n| (n, w) | | COSM | NS-RIS, feasible |\n|---|---|---|---|");
    out_ += rows;
  }

  void pictures() {
    const std::vector<NamedFigure> drawn = figures(all_);
    if (drawn.empty()) return;
    say("## Figures\n");
    say("Error bars are standard deviations over seeds; for splice errors, standard errors over "
        "folds. Dashed: not an accuracy. Times are processor seconds on {}, learning and "
        "scoring, one thread each with a run on every core.\n",
        processor_name());
    for (const NamedFigure& one : drawn) {
      const Study study = one.file.starts_with("hmm")    ? Study::kSyntheticHmm
                          : one.file.starts_with("hqmm") ? Study::kSyntheticHqmm
                                                         : Study::kSplice;
      say("![{0}]({1}/{2})\n{0}. `{3}`\n", one.caption, figures_, one.file, command_of(study));
    }
  }

  void tail() {
    say("## How it is made\n");
    say("Each command above leaves `results.csv` (one row per run), `seconds.csv`, `results.json` "
        "(with seeds, data hashes, version and machine) and this page in its folder. Run again "
        "with the same version and instruction set it gives the same figures, times and runs "
        "marked as stopped at the time limit excepted. The paper's protocol: 20 training sequences "
        "of 3000 symbols in pieces of 300 with a burn-in of 100, 60 epochs, the best epoch on 10 "
        "validation sequences, 10 test sequences; of those the first 1000 symbols are not scored.");
  }

  const Reproduction& all_;
  std::string figures_;
  std::string out_;
};

}  // namespace

std::string page(const Reproduction& all, const std::string& figures) {
  return Page(all, figures).run();
}

}  // namespace hqmm::cli
