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
#include "reproduce/figure_text.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/reproduce.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

using Row = std::vector<std::string>;

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
        group.cell.method != Method::kNsRisWarm)
      take({group.cell.latent_dim, group.cell.kraus_rank});
  }
  for (const Group& group : all.groups) {
    const Index n = group.cell.latent_dim;
    const auto same_n = [n](const ModelSize& size) { return size.n == n; };
    if (group.cell.study == study && group.cell.method == Method::kEm &&
        std::none_of(out.begin(), out.end(), same_n))
      take({n, 0});
  }
  std::sort(out.begin(), out.end(), [](const ModelSize& a, const ModelSize& b) {
    return std::pair(a.n, a.w) < std::pair(b.n, b.w);
  });
  return out;
}

Row accuracy_row(const Reproduction& all, Study study, ModelSize size, bool with_spread) {
  const auto find = [&](Method method, Index w) {
    return find_group(all.groups, study, method, size.n, w);
  };
  const Group* literal = find(Method::kNsRisLiteral, size.w);
  const bool first_of_n = size.w <= 1;
  const bool printed = study == Study::kSyntheticHqmm && size == ModelSize{2, 1};
  return {std::to_string(size.n),
          size.w > 0 ? std::to_string(size.w) : kNone,
          printed ? fmt::format("{:.4f}", paper::kHqmm) : kNone,
          literal != nullptr ? figure(literal->raw, with_spread) : kNone,
          test_figure(literal, with_spread),
          test_figure(find(Method::kNsRisPaper, size.w), with_spread),
          test_figure(find(Method::kNsRis, size.w), with_spread),
          test_figure(find(Method::kCosm, size.w), with_spread),
          test_figure(find(Method::kGivens, size.w), with_spread),
          first_of_n ? test_figure(find(Method::kEm, 0), with_spread) : kNone,
          first_of_n ? test_figure(find(Method::kNsRisWarm, size.n), with_spread) : kNone,
          fmt::format("{:.4f}", all.truths.at(study).test.da)};
}

/// The size with the best validation score of a method; the literal one is chosen raw, as it would.
const Group* best_of(const Reproduction& all, Study study, Method method) {
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
  const Group* literal = best_of(all, study, Method::kNsRisLiteral);
  out.push_back(literal != nullptr ? figure(literal->raw, with_spread) : kNone);
  for (const Method method : {Method::kNsRisLiteral, Method::kNsRisPaper, Method::kNsRis,
                              Method::kCosm, Method::kGivens, Method::kEm, Method::kNsRisWarm})
    out.push_back(test_figure(best_of(all, study, method), with_spread));
  out.push_back(fmt::format("{:.4f}", all.truths.at(study).test.da));
  return out;
}

std::string error_figure(const Group* group, bool normalised) {
  if (group == nullptr) return kNone;
  return fmt::format("{:.3f}", normalised ? group->normalised_error.mean : group->error.mean);
}

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
  constexpr std::array kMethods{Method::kNsRisLiteral, Method::kNsRisPaper, Method::kNsRis,
                                Method::kCosm,         Method::kGivens,     Method::kEm,
                                Method::kNsRisWarm};
  std::vector<Row> rows{
      {"n", "w", "literal", "feasible", "ours", "COSM", "Givens", "EM", "from EM"}};
  for (const ModelSize& size : sizes_of(all, study)) {
    Row row{std::to_string(size.n), size.w > 0 ? std::to_string(size.w) : kNone};
    for (const Method method : kMethods) {
      const Index w = rank_of(method, size.n, size.w);
      const bool by_n = method == Method::kEm || method == Method::kNsRisWarm;
      const Group* group =
          by_n && size.w > 1 ? nullptr : find_group(all.groups, study, method, size.n, w);
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
    rows.push_back({std::string(name_of(group.cell.method)), std::to_string(group.cell.latent_dim),
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
    const auto find = [&](Method method) {
      return find_group(all.groups, study, method, size.n, size.w);
    };
    const Group* literal = find(Method::kNsRisLiteral);
    const Group* small = find(Method::kNsRisLiteralSmall);
    if (literal == nullptr || small == nullptr) continue;
    const TrainOptions steps = cell_options(literal->cell, 0.0, 6);
    rows.push_back({std::to_string(size.n), std::to_string(size.w),
                    fmt::format("{}, {}", steps.step_size, steps.step_decay),
                    figure(literal->raw, false), test_figure(literal, false),
                    test_figure(find(Method::kNsRisPaper), false),
                    test_figure(find(Method::kCosm), false), figure(small->raw, false),
                    test_figure(small, false), test_figure(find(Method::kNsRisPaperSmall), false)});
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
      const auto find = [&](Method method, Index rank) {
        return find_group(all.groups, Study::kSplice, method, printed.n, rank, clean);
      };
      if (find(Method::kCosm, w) == nullptr) continue;
      const bool first = w == 1;
      rows.push_back({std::to_string(printed.n), std::to_string(w),
                      first ? cite(printed.best_ns_ris) : kNone,
                      first ? cite(printed.best_cosm) : kNone, first ? cite(printed.em) : kNone,
                      error_figure(find(Method::kNsRisLiteral, w), false),
                      error_figure(find(Method::kNsRisLiteral, w), true),
                      error_figure(find(Method::kNsRisPaper, w), false),
                      error_figure(find(Method::kNsRis, w), false),
                      error_figure(find(Method::kCosm, w), false),
                      first ? error_figure(find(Method::kEm, 0), false) : kNone});
    }
  }
  return aligned_markdown_table(rows);
}

}  // namespace hqmm::cli
