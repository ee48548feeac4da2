// The tables of a reproduction: what the paper printed beside what we measured.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/reproduce.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

using Row = std::vector<std::string>;
constexpr const char* kNone = "–";

std::string figure(const Spread& spread, bool with_spread) {
  if (spread.count == 0) return kNone;
  const std::string mean = fmt::format("{:.4f}", spread.mean);
  return with_spread && spread.deviation ? fmt::format("{} ± {:.4f}", mean, *spread.deviation)
                                         : mean;
}

std::string test_figure(const Group* group, bool with_spread) {
  if (group == nullptr) return kNone;
  return figure(group->test, with_spread) + (group->time_bounded ? "*" : "");
}

struct ModelSize {
  Index n, w;
  friend bool operator==(const ModelSize&, const ModelSize&) = default;
};

/// The sizes that a row is due for; EM alone has rows without w.
std::vector<ModelSize> sizes_of(const Reproduction& all, Study study) {
  std::vector<ModelSize> out;
  const auto take = [&](ModelSize size) {
    if (std::find(out.begin(), out.end(), size) == out.end()) out.push_back(size);
  };
  for (const Group& group : all.groups) {
    if (group.cell.study == study && group.cell.kraus_rank > 0 &&
        group.cell.method != "ns-ris-warm")
      take({group.cell.latent_dim, group.cell.kraus_rank});
  }
  for (const Group& group : all.groups) {
    const Index n = group.cell.latent_dim;
    const auto same_n = [n](const ModelSize& size) { return size.n == n; };
    if (group.cell.study == study && group.cell.method == "em" &&
        std::none_of(out.begin(), out.end(), same_n))
      take({n, 0});
  }
  std::sort(out.begin(), out.end(), [](const ModelSize& a, const ModelSize& b) {
    return std::pair(a.n, a.w) < std::pair(b.n, b.w);
  });
  return out;
}

Row accuracy_row(const Reproduction& all, Study study, ModelSize size, bool with_spread) {
  const auto find = [&](const char* method, Index w) {
    return find_group(all.groups, study, method, size.n, w);
  };
  const Group* literal = find("ns-ris-literal", size.w);
  const bool first_of_n = size.w <= 1;
  const bool printed = study == Study::kSyntheticHqmm && size == ModelSize{2, 1};
  return {std::to_string(size.n),
          size.w > 0 ? std::to_string(size.w) : kNone,
          printed ? fmt::format("{:.4f}", paper::kHqmm) : kNone,
          literal != nullptr ? figure(literal->raw, with_spread) : kNone,
          test_figure(literal, with_spread),
          test_figure(find("ns-ris-paper", size.w), with_spread),
          test_figure(find("ns-ris", size.w), with_spread),
          test_figure(find("cosm", size.w), with_spread),
          test_figure(find("givens", size.w), with_spread),
          first_of_n ? test_figure(find("em", 0), with_spread) : kNone,
          first_of_n ? test_figure(find("ns-ris-warm", size.n), with_spread) : kNone,
          fmt::format("{:.4f}", all.truths.at(study).test.da)};
}

/// The size with the best validation score of a method; the literal one is chosen raw, as it would.
const Group* best_of(const Reproduction& all, Study study, std::string_view method) {
  const Group* best = nullptr;
  const auto worth = [](const Group& group) {
    return group.raw_validation.count > 0 ? group.raw_validation.mean : group.validation.mean;
  };
  for (const Group& group : all.groups) {
    if (group.cell.study != study || group.cell.method != method) continue;
    if (best == nullptr || worth(group) > worth(*best)) best = &group;
  }
  return best;
}

Row best_row(const Reproduction& all, Study study, bool with_spread) {
  Row out{"best", "",
          fmt::format("{:.4f}", study == Study::kSyntheticHmm ? paper::kHmmBest : paper::kHqmm)};
  const Group* literal = best_of(all, study, "ns-ris-literal");
  out.push_back(literal != nullptr ? figure(literal->raw, with_spread) : kNone);
  for (const char* method :
       {"ns-ris-literal", "ns-ris-paper", "ns-ris", "cosm", "givens", "em", "ns-ris-warm"})
    out.push_back(test_figure(best_of(all, study, method), with_spread));
  out.push_back(fmt::format("{:.4f}", all.truths.at(study).test.da));
  return out;
}

std::string error_figure(const Group* group, bool normalised) {
  if (group == nullptr) return kNone;
  return fmt::format("{:.3f}", normalised ? group->normalised_error.mean : group->error.mean);
}

constexpr const char* kLegend =
    R"(Every figure is description accuracy on ten test sequences that no training saw: 0 is guessing every symbol with equal
probability, 1 is knowing each one in advance. Columns, from left to right:
  n, w           size of the model: hidden dimension and operators per symbol; "best": the size with the best validation score
  paper          what the paper printed for its algorithm NS-RIS, where it printed a number
  literal raw    the paper's algorithm as written, by its own reckoning: its "probabilities" do not sum to one
  normalised     the same models, each prediction divided by its sum: what they are really worth
  feasible       the same protocol, but with a retraction that keeps probabilities probabilities
  ours           feasible NS-RIS with our default recipe
  COSM, Givens   the two earlier learners of hidden quantum Markov models
  EM             an ordinary hidden Markov model with n states (it has no w)
  from EM        ours, started from that HMM (w = n)
  true model     the process that made the data. Nothing honest can beat it by more than luck.
)";

}  // namespace

std::string accuracy_table(const Reproduction& all, Study study, bool with_spread) {
  std::vector<Row> rows{{"n", "w", "paper", "literal raw", "normalised", "feasible", "ours", "COSM",
                         "Givens", "EM", "from EM", "true model"}};
  for (const ModelSize& size : sizes_of(all, study))
    rows.push_back(accuracy_row(all, study, size, with_spread));
  rows.push_back(best_row(all, study, with_spread));
  return aligned_markdown_table(rows);
}

std::string seconds_table(const Reproduction& all, Study study) {
  constexpr std::array kMethods{"ns-ris-literal", "ns-ris-paper", "ns-ris",     "cosm",
                                "givens",         "em",           "ns-ris-warm"};
  std::vector<Row> rows{
      {"n", "w", "literal", "feasible", "ours", "COSM", "Givens", "EM", "from EM"}};
  for (const ModelSize& size : sizes_of(all, study)) {
    Row row{std::to_string(size.n), size.w > 0 ? std::to_string(size.w) : kNone};
    for (const std::string_view method : kMethods) {
      const bool by_n = method == "em" || method == "ns-ris-warm";
      const Group* group = by_n && size.w > 1 ? nullptr
                                              : find_group(all.groups, study, method, size.n,
                                                           method == "em" ? 0
                                                           : by_n         ? size.n
                                                                          : size.w);
      row.push_back(group != nullptr ? fmt::format("{:.2f}", group->seconds.mean) : kNone);
    }
    rows.push_back(std::move(row));
  }
  return aligned_markdown_table(rows);
}

std::string split_table(const Reproduction& all, Study study) {
  std::vector<Row> rows{{"method", "n", "w", "T", "train", "validation", "test", "raw test"}};
  for (const Group& group : all.groups) {
    if (group.cell.study != study) continue;
    rows.push_back({group.cell.method, std::to_string(group.cell.latent_dim),
                    group.cell.kraus_rank > 0 ? std::to_string(group.cell.kraus_rank) : kNone,
                    std::to_string(group.cell.ns_steps), figure(group.train, true),
                    figure(group.validation, true), figure(group.test, true),
                    figure(group.raw, true)});
  }
  return aligned_markdown_table(rows);
}

std::string step_size_table(const Reproduction& all) {
  const Study study = Study::kSyntheticHmm;
  std::vector<Row> rows{{"n", "w", "η, α", "literal raw", "normalised", "feasible", "COSM",
                         "literal raw, small", "normalised, small", "feasible, small"}};
  for (const ModelSize& size : sizes_of(all, study)) {
    const auto find = [&](const char* method) {
      return find_group(all.groups, study, method, size.n, size.w);
    };
    const Group* literal = find("ns-ris-literal");
    const Group* small = find("ns-ris-literal-small");
    if (literal == nullptr || small == nullptr) continue;
    const TrainOptions steps = cell_options(literal->cell, 0.0, 6);
    rows.push_back({std::to_string(size.n), std::to_string(size.w),
                    fmt::format("{}, {}", steps.step_size, steps.step_decay),
                    figure(literal->raw, false), test_figure(literal, false),
                    test_figure(find("ns-ris-paper"), false), test_figure(find("cosm"), false),
                    figure(small->raw, false), test_figure(small, false),
                    test_figure(find("ns-ris-paper-small"), false)});
  }
  return rows.size() > 1 ? aligned_markdown_table(rows) : std::string();
}

std::string splice_table(const Reproduction& all, bool clean) {
  std::vector<Row> rows{{"n", "w", "paper NS-RIS", "paper COSM", "paper EM", "literal",
                         "literal normalised", "feasible", "ours", "COSM", "EM"}};
  for (const paper::SpliceError& printed : paper::kSplice) {
    const auto cite = [](double value) {
      return value > 0.0 ? fmt::format("{:.3f}", value) : kNone;
    };
    for (const Index w : {1, 2, 4, 6}) {
      const auto find = [&](const char* method, Index rank) {
        return find_group(all.groups, Study::kSplice, method, printed.n, rank, clean);
      };
      if (find("cosm", w) == nullptr) continue;
      const bool first = w == 1;
      rows.push_back({std::to_string(printed.n), std::to_string(w),
                      first ? cite(printed.best_ns_ris) : kNone,
                      first ? cite(printed.best_cosm) : kNone, first ? cite(printed.em) : kNone,
                      error_figure(find("ns-ris-literal", w), false),
                      error_figure(find("ns-ris-literal", w), true),
                      error_figure(find("ns-ris-paper", w), false),
                      error_figure(find("ns-ris", w), false), error_figure(find("cosm", w), false),
                      first ? error_figure(find("em", 0), false) : kNone});
    }
  }
  return aligned_markdown_table(rows);
}

std::string first_look(const Reproduction& all) {
  std::vector<Row> rows{{"data made by", "described by", "accuracy", "seconds"}};
  bool hqmm_wins = true;
  bool raw_is_impossible = true;
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm}) {
    if (!all.has(study)) continue;
    const bool quantum = study == Study::kSyntheticHqmm;
    const char* maker = quantum ? "a quantum process" : "an HMM";
    const Index n = quantum ? 2 : 3;
    const double truth = all.truths.at(study).test.da;
    rows.push_back(
        {maker, "that process itself: the ceiling", fmt::format("{:.4f}", truth), kNone});
    const auto put = [&](const Group* group, const std::string& words) {
      if (group == nullptr) return;
      rows.push_back(
          {maker, words, test_figure(group, false), fmt::format("{:.1f}", group->seconds.mean)});
    };
    const Group* ours = best_on_validation(all.groups, study, "ns-ris", n);
    const Group* em = find_group(all.groups, study, "em", n, 0);
    const Group* literal = find_group(all.groups, study, "ns-ris-literal", quantum ? 2 : 6, 1);
    if (ours == nullptr || em == nullptr || literal == nullptr) continue;
    put(ours, fmt::format("HQMM, n = {}, w = {}, learned by hqmm", n, ours->cell.kraus_rank));
    put(find_group(all.groups, study, "cosm", n, 1),
        fmt::format("HQMM, n = {}, w = 1, learned by COSM", n));
    put(em, fmt::format("HMM, {} states, learned by EM", n));
    put(literal, fmt::format("the paper's NS-RIS, n = {}, w = 1", literal->cell.latent_dim));
    rows.push_back(
        {maker, "… by its own, un-normalised count", figure(literal->raw, false), kNone});
    hqmm_wins = hqmm_wins && ours->test.mean > em->test.mean;
    raw_is_impossible = raw_is_impossible && literal->raw.mean > truth;
  }
  std::string out = aligned_markdown_table(rows, 2);
  out +=
      "\nAccuracy is description accuracy on ten sequences that no training saw: 0 is guessing "
      "every symbol, 1 is knowing it.\n";
  if (hqmm_wins)
    out +=
        "At the same size n an HQMM says more about the data than a hidden Markov model (HMM), "
        "even about data that an HMM made.\n";
  out += "Nothing honest beats the process that made the data.";
  if (raw_is_impossible)
    out += " The paper's own count does, for its \"probabilities\" sum to more than one.";
  return out + "\n";
}

std::string terminal_tables(const Reproduction& all) {
  std::string out;
  bool synthetic = false;
  bool bounded = false;
  for (const Group& group : all.groups) bounded = bounded || group.time_bounded;
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm}) {
    if (!all.has(study)) continue;
    synthetic = true;
    out +=
        fmt::format("{}: {}\n\n{}\n", name_of(study),
                    study == Study::kSyntheticHmm
                        ? "sequences made by an ordinary hidden Markov model of 6 states"
                        : "sequences made by a quantum process, a spin measured along three axes",
                    accuracy_table(all, study, false));
    out += fmt::format("processor seconds to learn and score it on this machine\n\n{}\n",
                       seconds_table(all, study));
  }
  if (synthetic) out += kLegend;
  if (bounded)
    out += "  *              stopped at --time-limit: on another machine it gets further\n";
  if (!all.has(Study::kSplice)) {
    if (all.splice_missing)
      out += "\nsplice: skipped, there is no splice.data (see hqmm data splice)\n";
    return out;
  }
  for (const bool clean : {true, false}) {
    out +=
        fmt::format("\nsplice, {}: mean of the three classes' error rates, lower is better\n\n{}",
                    clean ? "clean protocol (nothing chosen on the scored fold)"
                          : "the peers' protocol (epoch picked on the scored fold: too small)",
                    splice_table(all, clean));
  }
  return out;
}

}  // namespace hqmm::cli
