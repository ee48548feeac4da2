// The report of a reproduction in Markdown: written from the results, every figure with the command
// that makes it. The words are in page.md; sentences that judge are chosen by the numbers they
// judge, and only what the paper printed is quoted.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/simd.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "hqmm/version.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/prose.hpp"
#include "reproduce/reproduce.hpp"

namespace hqmm::cli {
namespace {

class Page {
 public:
  Page(const Reproduction& all, std::string figures, std::string cited)
      : all_(all), figures_(std::move(figures)), cited_(std::move(cited)) {}

  std::string run() {
    head();
    if (const std::string found = claims(all_); !found.empty()) {
      paragraph("in-short");
      out_ += found + "\n";
    }
    for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm})
      if (all_.has(study)) synthetic(study);
    if (all_.has(Study::kSyntheticHmm)) {
      why();
      step_sizes();
    }
    if (!all_.comparisons.empty()) tests();
    if (all_.has(Study::kSplice)) splice();
    pictures();
    out_ += prose("tail");
    if (!all_.truths.empty()) out_ += " " + prose("tail-synthetic");
    blank();
    return out_;
  }

 private:
  template <typename... Args>
  void line(std::string_view section, Args&&... args) {
    out_ += prose(section, std::forward<Args>(args)...) + "\n";
  }
  template <typename... Args>
  void paragraph(std::string_view section, Args&&... args) {
    line(section, std::forward<Args>(args)...);
    blank();
  }
  void blank() { out_ += "\n"; }

  [[nodiscard]] std::string command_of(Study study) const {
    ReproduceOptions options = *all_.options;
    options.which = name_of(study);
    return options.command();
  }

  [[nodiscard]] const Group* find(Study study, Method method, Index n, Index w, bool clean = true,
                                  int steps = 5) const {
    return find_group(all_.groups, study, method, n, w, clean, steps);
  }

  void head() {
    const ReproduceOptions& options = *all_.options;
    const bool once = options.quick || options.seeds == 1;
    line("head", fmt::arg("command", options.command()), fmt::arg("version", HQMM_VERSION),
         fmt::arg("simd", simd_target()), fmt::arg("data", all_.data->source),
         fmt::arg("cited", cited_),
         fmt::arg("runs", once ? prose("one-run")
                               : prose("several-runs", fmt::arg("seeds", options.seeds))));
    if (options.quick) line("quick");
    if (all_.splice_missing) line("splice-missing");
    blank();
  }

  void synthetic(Study study) {
    const SyntheticOutcome& truth = all_.truths.at(study);
    const bool quantum = study == Study::kSyntheticHqmm;
    paragraph("synthetic", fmt::arg("title", quantum ? "Synthetic HQMM" : "Synthetic HMM"),
              fmt::arg("train", truth.train.da), fmt::arg("validation", truth.validation.da),
              fmt::arg("test", truth.test.da), fmt::arg("command", command_of(study)));
    out_ += accuracy_table(all_, study, true);
    blank();
    paragraph(
        "synthetic-columns",
        fmt::arg("printed", quantum ? prose("printed-hqmm", fmt::arg("cosm", paper::kHqmmCosm))
                                    : prose("printed-hmm", fmt::arg("cosm", paper::kHmmBestCosm))),
        fmt::arg("bounded", bounded(study) ? " " + prose("bounded") : ""));
    if (quantum) {
      paragraph("seconds-hqmm", fmt::arg("ns_ris", paper::kHqmmSeconds),
                fmt::arg("cosm", paper::kHqmmCosmSeconds));
    } else {
      paragraph("seconds-hmm");
    }
    out_ += seconds_table(all_, study);
    blank();
    paragraph("splits", fmt::arg("table", split_table(all_, study)));
  }

  void step_sizes() {
    const std::string table = step_size_table(all_);
    if (table.empty()) return;
    paragraph("step-sizes", fmt::arg("command", command_of(Study::kSyntheticHmm)));
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
    line("why", fmt::arg("least", five.least), fmt::arg("greatest", five.greatest));
    for (Index n = 2; n <= 6; ++n) {
      const Group* group = find(Study::kSyntheticHmm, Method::kNsRisLiteral, n, 1);
      if (group == nullptr) continue;
      line("why-row", fmt::arg("n", n), fmt::arg("scale", literal_scale(n, 5)),
           fmt::arg("smallest", group->smallest_singular),
           fmt::arg("largest", group->largest_singular),
           fmt::arg("least", raw_gain(group->smallest_singular, 6)),
           fmt::arg("greatest", raw_gain(group->largest_singular, 6)),
           fmt::arg("found", group->raw.mean - group->test.mean));
    }
    blank();
    line("why-command", fmt::arg("command", command_of(Study::kSyntheticHmm)));
    parity();
    blank();
  }

  void parity() {
    std::string rows;
    for (int steps = 2; steps <= 12; ++steps) {
      const Group* group =
          find(Study::kSyntheticHmm, Method::kNsRisLiteralSmall, 6, 2, true, steps);
      if (group == nullptr) continue;
      const double epoch = group->best_epoch.mean;
      rows +=
          prose("parity-row", fmt::arg("steps", steps), fmt::arg("scale", literal_scale(6, steps)),
                fmt::arg("raw", group->raw_last.mean), fmt::arg("normalised", group->last.mean),
                fmt::arg("epoch",
                         epoch == 0.0 ? prose("parity-start") : fmt::format("{:.0f}", epoch))) +
          "\n";
    }
    if (rows.empty()) return;
    blank();
    line("parity", fmt::arg("truth", all_.truths.at(Study::kSyntheticHmm).validation.da));
    out_ += rows;
  }

  [[nodiscard]] static std::string describe_group(const Cell& cell) {
    return fmt::format("{}, n = {}{}", name_of(cell.method), cell.latent_dim,
                       cell.kraus_rank > 0 ? fmt::format(", w = {}", cell.kraus_rank) : "");
  }

  void tests() {
    line("tests");
    for (const Comparison& one : all_.comparisons) {
      line("tests-row", fmt::arg("study", name_of(one.study)), fmt::arg("a", describe_group(one.a)),
           fmt::arg("b", describe_group(one.b)), fmt::arg("difference", one.test.difference),
           fmt::arg("error", one.test.standard_error),
           fmt::arg("t", one.test.t ? fmt::format("{:.1f}", *one.test.t) : "–"),
           fmt::arg("p", one.corrected_p));
    }
    blank();
  }

  void splice() {
    paragraph("splice", fmt::arg("rows", all_.data->splice->size()),
              fmt::arg("command", command_of(Study::kSplice)));
    out_ += splice_table(all_, true);
    blank();
    paragraph("splice-peers");
    out_ += splice_table(all_, false);
    class_errors();
    blank();
    paragraph("splice-end");
  }

  template <typename Errors>
  [[nodiscard]] static std::string class_errors_row(const paper::ClassErrors& at, const char* whose,
                                                    const Errors& cosm, const Errors& ns_ris) {
    const auto three = [](const Errors& e) {
      return fmt::format("{:.3f} / {:.3f} / {:.3f}", e[0], e[1], e[2]);
    };
    return prose("class-errors-row", fmt::arg("n", at.n), fmt::arg("w", at.w),
                 fmt::arg("whose", whose), fmt::arg("cosm", three(cosm)),
                 fmt::arg("ns_ris", three(ns_ris))) +
           "\n";
  }

  void class_errors() {
    std::string rows;
    for (const paper::ClassErrors& printed : paper::kClassErrors) {
      rows += class_errors_row(printed, "paper, as printed", printed.cosm, printed.ns_ris);
      for (const bool clean : {false, true}) {
        const Group* cosm = find(Study::kSplice, Method::kCosm, printed.n, printed.w, clean);
        const Group* ours = find(Study::kSplice, Method::kNsRisPaper, printed.n, printed.w, clean);
        if (cosm == nullptr || ours == nullptr || cosm->class_errors.size() != 3) return;
        rows += class_errors_row(printed, clean ? "clean" : "peers' protocol", cosm->class_errors,
                                 ours->class_errors);
      }
    }
    blank();
    line("class-errors");
    out_ += rows;
  }

  void pictures() {
    const std::vector<NamedFigure> drawn = figures(all_);
    if (drawn.empty()) return;
    paragraph("figures", fmt::arg("processor", processor_name()));
    for (const NamedFigure& one : drawn) {
      const Study study = one.file.starts_with("hmm")    ? Study::kSyntheticHmm
                          : one.file.starts_with("hqmm") ? Study::kSyntheticHqmm
                                                         : Study::kSplice;
      paragraph("figure", fmt::arg("caption", one.caption), fmt::arg("answers", one.answers),
                fmt::arg("folder", figures_), fmt::arg("file", one.file),
                fmt::arg("command", command_of(study)));
    }
  }

  const Reproduction& all_;
  std::string figures_;
  std::string cited_;
  std::string out_;
};

}  // namespace

std::string page(const Reproduction& all, const std::string& figures, const std::string& cited) {
  return Page(all, figures, cited).run();
}

}  // namespace hqmm::cli
