#include "hqmm/evaluate/classifier_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kMostSettings = 200;
// An epoch of small data has some steps too.
constexpr std::size_t kLeastBatch = 10, kMostBatch = 200, kBatchesPerEpoch = 12;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

/// Values between commas; the ",tie=K" of a window belongs to the value before it.
std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view value : split(text, ',')) {
    if (!out.empty() && value.starts_with("tie=")) {
      out.back() += "," + std::string(value);
    } else {
      out.emplace_back(value);
    }
  }
  return out;
}

/// One option of a grid, and its values as they were written.
struct GridAxis {
  const OptionRow<ClassifierOptions>* row;
  std::vector<std::string> values;
};

std::string grid_name(std::string_view id) {
  std::string out(id);
  std::ranges::replace(out, '_', '-');
  return out;
}

const OptionRow<ClassifierOptions>& grid_option(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& row : classifier_option_table()) {
    if (row.only_kept || row.passing) continue;
    known.push_back(grid_name(row.id));
    if (row.id == name || known.back() == name) return row;
  }
  throw fail(ErrorCode::kUsage, "there is no option '{}' for a grid; expected one of {}",
             printable(name), fmt::join(known, ", "));
}

std::vector<GridAxis> axes_of(std::string_view grid) {
  std::vector<GridAxis> out;
  for (const std::string_view axis : split(grid, ';')) {
    const std::size_t equals = axis.find('=');
    if (equals == std::string_view::npos)
      throw fail(ErrorCode::kUsage, "{}: expected name=value,value;…, found '{}'", option("grid"),
                 printable(axis));
    out.push_back({&grid_option(axis.substr(0, equals)), values_of(axis.substr(equals + 1))});
  }
  return out;
}

/// The last axis runs fastest.
std::vector<ClassifierSetting> combinations(const std::vector<GridAxis>& axes,
                                            const ClassifierOptions& base) {
  std::vector<ClassifierSetting> out{{"", base}};
  for (const auto& [row, values] : axes) {
    std::vector<ClassifierSetting> longer;
    for (const ClassifierSetting& before : out) {
      for (const std::string& value : values) {
        ClassifierSetting setting = before;
        set_option(*row, setting.options, parsed(*row, value));
        if (values.size() > 1)
          setting.text +=
              fmt::format("{}{}={}", before.text.empty() ? "" : " ", grid_name(row->id), value);
        longer.push_back(std::move(setting));
      }
    }
    out = std::move(longer);
    if (out.size() > kMostSettings)
      throw fail(ErrorCode::kUsage, "{}: more than {} settings", option("grid"), kMostSettings);
  }
  return out;
}

/// Positions from `margin` to as far from the end; outside, twelfths of the sequence share a set.
std::string centred_window(std::size_t length, std::size_t margin) {
  return fmt::format("window:{}-{},tie={}", margin, length - 1 - margin,
                     std::max<std::size_t>(length / 12, 1));
}

bool one_length(const SequenceSet& data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i].size() != data[0].size()) return false;
  return true;
}

}  // namespace

Recommendation recommended_options(const SequenceSet& data) {
  Recommendation out;
  TrainOptions& train = out.options.train;
  train.batch_size = std::clamp(data.size() / kBatchesPerEpoch, kLeastBatch, kMostBatch);
  const std::size_t length = data.longest();
  if (!one_length(data)) {
    out.why = fmt::format("sequences of different lengths: stationary models ({} to change)",
                          option("positions"));
  } else if (length < 4) {
    out.options.positions = PositionPlan::parse("each");
    out.why =
        fmt::format("all sequences have {} symbols: each position has its own Kraus set", length);
  } else {
    out.options.positions = PositionPlan::parse(centred_window(length, length / 4));
    out.why = fmt::format(
        "all sequences have {} symbols: positions in the middle have their own Kraus sets, {} on "
        "either side share one ({} to change)",
        length, out.options.positions.tie, option("positions"));
  }
  return out;
}

Recommendation recommended_options(const SequenceSet& data, const GivenOptions& given) {
  Recommendation out = recommended_options(data);
  ClassifierOptions& options = out.options;
  const auto apply = [&](std::string_view id) {
    const auto found = given.find(id);
    if (found != given.end()) set_options(classifier_option_table(), options, {*found});
  };
  apply("learner");
  apply("objective");
  apply("positions");
  if (given.contains("positions")) out.why.clear();
  if (options.train.learner != LearnerKind::kNsRis) {
    if (!given.contains("objective")) options.objective = ObjectiveKind::kGenerative;
    if (!given.contains("positions")) {
      options.positions = PositionPlan{};
      out.why = fmt::format("{} learns stationary models, each class separately",
                            name_of(options.train.learner));
    }
  }
  if (options.objective == ObjectiveKind::kGenerative &&
      options.positions.kind == PositionPlan::Kind::kStationary)
    options.train = default_options(options.train.learner);
  for (const auto& [id, value] : given)
    if (id != "positions") apply(id);
  return out;
}

std::vector<ClassifierSetting> default_settings(const ClassifierOptions& base,
                                                const SequenceSet& data,
                                                const GivenOptions& given) {
  const std::size_t length = data.longest();
  std::vector<GridAxis> axes;
  if (base.positions.kind == PositionPlan::Kind::kWindow && one_length(data) && length >= 12) {
    axes.push_back({&grid_option("positions"),
                    {centred_window(length, length / 3), centred_window(length, length / 4),
                     centred_window(length, length / 6)}});
  }
  if (base.objective != ObjectiveKind::kGenerative)
    axes.push_back({&grid_option("dropout"), {"0.3", "0.5"}});
  std::erase_if(axes, [&](const GridAxis& axis) { return given.contains(axis.row->id); });
  return combinations(axes, base);
}

std::vector<ClassifierSetting> parse_grid(std::string_view text, const ClassifierOptions& base) {
  if (text.empty()) return {{"", base}};
  return combinations(axes_of(text), base);
}

}  // namespace hqmm::detail
