// The paper's figures, drawn from our results.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/report/figure_svg.hpp"
#include "hqmm/report/palette.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/reproduce.hpp"

namespace hqmm::cli {
namespace {

struct Line {
  Method method;
  const char* name;
};
constexpr Line kLearned[] = {{Method::kNsRisLiteral, "literal, normalised"},
                             {Method::kNsRisPaper, "feasible, paper's protocol"},
                             {Method::kNsRis, "feasible, our recipe"},
                             {Method::kCosm, "COSM"},
                             {Method::kGivens, "Givens search"}};
constexpr const char* kRawName = "literal, raw claim";

std::optional<Mark> mark_of(const Spread& spread) {
  if (spread.count == 0) return {};
  return Mark{spread.mean, spread.deviation.value_or(0.0)};
}

const Group* at(const Reproduction& all, Study study, Method method, Index n, Index w) {
  return find_group(all.groups, study, method, n, rank_of(method, n, w));
}

/// A method has the same colour in every figure.
Series begin_series(const Line& line, bool dashed = false) {
  return {line.name, {}, dashed, std::string(method_colour(name_of(line.method)))};
}

bool any(const Series& series) {
  return std::any_of(series.marks.begin(), series.marks.end(),
                     [](const auto& mark) { return mark.has_value(); });
}

struct AxisSize {
  Index n, w;
  std::string name;
};

/// One line per method over some sizes; `get` picks the spread to show.
template <typename Get>
Series series_of(const Reproduction& all, Study study, const Line& line,
                 const std::vector<AxisSize>& sizes, Get get) {
  Series out = begin_series(line);
  for (const AxisSize& size : sizes) {
    const Group* group = at(all, study, line.method, size.n, size.w);
    out.marks.push_back(group != nullptr ? mark_of(get(*group)) : std::nullopt);
  }
  return out;
}

std::vector<AxisSize> sizes_by_n(Index from, Index to) {
  std::vector<AxisSize> out;
  for (Index n = from; n <= to; ++n) out.push_back({n, 1, std::to_string(n)});
  return out;
}
std::vector<AxisSize> sizes_by_w(Index n) {
  std::vector<AxisSize> out;
  for (Index w = 1; w <= 6; ++w) out.push_back({n, w, std::to_string(w)});
  return out;
}

void keep(Chart& chart, Series series) {
  if (any(series)) chart.series.push_back(std::move(series));
}

Chart accuracy_chart(const Reproduction& all, const std::vector<AxisSize>& sizes) {
  Chart chart;
  chart.y_label = "test description accuracy";
  for (const AxisSize& size : sizes) chart.categories.push_back(size.name);
  const Study study = Study::kSyntheticHmm;
  Series raw = series_of(all, study, {Method::kNsRisLiteral, kRawName}, sizes,
                         [](const Group& group) { return group.raw; });
  raw.dashed = true;
  keep(chart, std::move(raw));
  const auto test = [](const Group& group) { return group.test; };
  for (const Line& line : kLearned) keep(chart, series_of(all, study, line, sizes, test));
  keep(chart, series_of(all, study, {Method::kEm, "EM (HMM, no w)"}, sizes, test));
  keep(chart, series_of(all, study, {Method::kNsRisWarm, "ours, from EM (w = n)"}, sizes, test));
  chart.references = {{"true model", all.truths.at(study).test.da},
                      {"paper's best, as printed", paper::kHmmBest}};
  return chart;
}

Chart seconds_chart(const Reproduction& all, Study study, const std::vector<AxisSize>& sizes) {
  Chart chart;
  chart.y_label = "seconds on one thread";
  chart.logarithmic = true;
  for (const AxisSize& size : sizes) chart.categories.push_back(size.name);
  const auto seconds = [](const Group& group) { return group.seconds; };
  for (Line line : kLearned) {
    if (line.method == Method::kNsRisLiteral) line.name = "literal";
    keep(chart, series_of(all, study, line, sizes, seconds));
  }
  keep(chart, series_of(all, study, {Method::kEm, "EM (HMM)"}, sizes, seconds));
  return chart;
}

/// `answers` names the figure of the paper, numbered by the captions there.
void add(std::vector<NamedFigure>& out, const char* file, const std::string& caption,
         const char* answers, Chart chart) {
  if (chart.series.empty()) return;
  chart.title = caption;
  out.push_back({file, caption, answers, draw_svg(chart)});
}

void add_hmm_figures(std::vector<NamedFigure>& out, const Reproduction& all) {
  Chart chart = accuracy_chart(all, sizes_by_n(2, 6));
  chart.x_label = "latent dimension n (w = 1)";
  add(out, "hmm-da-by-n.svg", "Synthetic HMM: accuracy against n, w = 1", "Figure 1, left panel",
      chart);
  chart = accuracy_chart(all, sizes_by_w(6));
  chart.x_label = "Kraus rank w (n = 6)";
  add(out, "hmm-da-by-w.svg", "Synthetic HMM: accuracy against w, n = 6", "Figure 1, right panel",
      chart);
  chart = seconds_chart(all, Study::kSyntheticHmm, sizes_by_n(2, 6));
  chart.x_label = "latent dimension n (w = 1)";
  add(out, "hmm-seconds-by-n.svg", "Synthetic HMM: training time against n, w = 1",
      "Figure 2, left panel", chart);
  chart = seconds_chart(all, Study::kSyntheticHmm, sizes_by_w(6));
  chart.x_label = "Kraus rank w (n = 6)";
  add(out, "hmm-seconds-by-w.svg", "Synthetic HMM: training time against w, n = 6",
      "Figure 2, right panel", chart);
}

void add_hqmm_figures(std::vector<NamedFigure>& out, const Reproduction& all) {
  const Study study = Study::kSyntheticHqmm;
  Chart chart;
  chart.kind = Chart::Kind::kBars;
  chart.y_label = "description accuracy";
  chart.categories = {"training", "validation", "test"};
  const auto put = [&](const Line& line, bool raw) {
    const Group* group = at(all, study, line.method, 2, 1);
    if (group == nullptr) return;
    Series series = begin_series(line, raw);
    for (const Spread* one :
         raw ? std::array{&group->raw_train, &group->raw_validation, &group->raw}
             : std::array{&group->train, &group->validation, &group->test})
      series.marks.push_back(mark_of(*one));
    keep(chart, std::move(series));
  };
  put({Method::kNsRisLiteral, kRawName}, true);
  for (const Line& line : kLearned) put(line, false);
  put({Method::kEm, "EM (HMM, n = 2)"}, false);
  chart.references = {{"true model, test", all.truths.at(study).test.da},
                      {"paper's NS-RIS, printed", paper::kHqmm}};
  add(out, "hqmm-comparison.svg", "Synthetic HQMM, n = 2, w = 1: accuracy", "Figure 3, top row",
      chart);
  Chart seconds = seconds_chart(all, study, {{2, 1, "n = 2, w = 1"}});
  seconds.kind = Chart::Kind::kBars;
  add(out, "hqmm-seconds.svg", "Synthetic HQMM, n = 2, w = 1: training time",
      "Figure 3, bottom row", seconds);
}

const Group* splice_at(const Reproduction& all, Method method, Index n, Index w, bool clean) {
  return find_group(all.groups, Study::kSplice, method, n, rank_of(method, n, w), clean);
}

constexpr Line kSpliceMethods[] = {{Method::kNsRisLiteral, "literal NS-RIS"},
                                   {Method::kNsRisPaper, "feasible, paper's protocol"},
                                   {Method::kNsRis, "feasible, our recipe"},
                                   {Method::kCosm, "COSM"},
                                   {Method::kEm, "EM (HMM, no w)"}};

/// A bar per method over (n, w); `get` makes the mark of a group.
template <typename Get>
Chart splice_chart(const Reproduction& all, bool clean, Get get) {
  Chart chart;
  chart.kind = Chart::Kind::kBars;
  chart.x_label = "n, w";
  for (const Line& line : kSpliceMethods) {
    Series series = begin_series(line);
    chart.categories.clear();
    for (const Index n : {2, 4, 6, 8}) {
      for (const Index w : {1, 2, 4, 6}) {
        chart.categories.push_back(fmt::format("{},{}", n, w));
        const Group* group = splice_at(all, line.method, n, w, clean);
        series.marks.push_back(group != nullptr ? get(*group) : std::nullopt);
      }
    }
    keep(chart, std::move(series));
  }
  return chart;
}

void add_splice_figures(std::vector<NamedFigure>& out, const Reproduction& all) {
  const auto error = [](const Group& group) {
    return std::optional<Mark>(
        {group.error.mean, spread(group.fold_errors).standard_error.value_or(0.0)});
  };
  const auto seconds = [](const Group& group) { return mark_of(group.seconds); };
  for (const bool clean : {true, false}) {
    Chart chart = splice_chart(all, clean, error);
    chart.y_label = "mean class error";
    add(out, clean ? "splice-error-clean.svg" : "splice-error-peers.svg",
        clean ? "Splice, clean protocol: mean class error"
              : "Splice, epoch picked on the scored fold: mean class error (too small)",
        "Figure 4", chart);
    chart = {};
    chart.kind = Chart::Kind::kBars;
    chart.y_label = "error of the class";
    for (const Line& line : kSpliceMethods) {
      Series series = begin_series(line);
      chart.categories.clear();
      for (const Index n : {6, 8}) {
        const Group* group = splice_at(all, line.method, n, 4, clean);
        for (std::size_t c = 0; c < 3; ++c) {
          chart.categories.push_back(fmt::format("{} ({},4)", std::array{"EI", "IE", "N"}[c], n));
          const bool there = group != nullptr && group->class_errors.size() == 3;
          series.marks.push_back(there ? std::optional<Mark>({group->class_errors[c], 0.0})
                                       : std::nullopt);
        }
      }
      keep(chart, std::move(series));
    }
    add(out, clean ? "splice-classes-clean.svg" : "splice-classes-peers.svg",
        clean ? "Splice, clean protocol: errors by class"
              : "Splice, epoch picked on the scored fold: errors by class",
        "Figure 5", chart);
  }
  Chart chart = splice_chart(all, false, seconds);
  chart.y_label = "processor seconds, 15 models";
  chart.logarithmic = true;
  add(out, "splice-seconds.svg", "Splice: time of a five-fold run", "Figure 6", chart);
}

}  // namespace

std::vector<NamedFigure> figures(const Reproduction& all) {
  std::vector<NamedFigure> out;
  if (all.has(Study::kSyntheticHmm)) add_hmm_figures(out, all);
  if (all.has(Study::kSyntheticHqmm)) add_hqmm_figures(out, all);
  if (all.has(Study::kSplice)) add_splice_figures(out, all);
  return out;
}

}  // namespace hqmm::cli
