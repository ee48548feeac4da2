#include "hqmm/evaluate/classifier_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "hqmm/core/error.hpp"

namespace hqmm {
namespace {

constexpr std::size_t kMostSettings = 200;
// An epoch of small data has some steps too.
constexpr std::size_t kLeastBatch = 10, kMostBatch = 200, kBatchesPerEpoch = 12;

template <typename T>
T number(std::string_view name, std::string_view value, const char* expected) {
  T out{};
  const char* end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, out);
  if (failure != std::errc() || stop != end || value.empty())
    throw fail(ErrorCode::kUsage, "{}: expected {}, found '{}'", name, expected, printable(value));
  return out;
}

double real(std::string_view name, std::string_view value) {
  return number<double>(name, value, "a number");
}
std::size_t count(std::string_view name, std::string_view value) {
  return number<std::size_t>(name, value, "a whole number");
}
Index size(std::string_view name, std::string_view value) {
  const std::size_t out = count(name, value);
  if (out < 1 || out > 4096)
    throw fail(ErrorCode::kUsage, "{}: expected a whole number from 1 to 4096, found {}", name,
               out);
  return static_cast<Index>(out);
}

ObjectiveKind objective(std::string_view name, std::string_view value) {
  if (value == "discriminative") return ObjectiveKind::kDiscriminative;
  if (value == "generative") return ObjectiveKind::kGenerative;
  if (value == "hybrid") return ObjectiveKind::kHybrid;
  throw fail(ErrorCode::kUsage, "{}: expected discriminative, generative or hybrid, found '{}'",
             name, printable(value));
}

bool from_end(std::string_view name, std::string_view value) {
  if (value == "start" || value == "end") return value == "end";
  throw fail(ErrorCode::kUsage, "{}: expected start or end, found '{}'", name, printable(value));
}

void set_positions(ClassifierOptions& options, std::string_view value) {
  const bool anchored_at_end = options.positions.from_end;
  options.positions = PositionPlan::parse(value);
  options.positions.from_end = anchored_at_end;
}

using Name = std::string_view;
using Setter = std::function<void(ClassifierOptions&, Name, std::string_view)>;

const std::map<std::string, Setter, std::less<>>& setters() {
  using O = ClassifierOptions;
  using V = std::string_view;
  static const std::map<std::string, Setter, std::less<>> all = {
      {"latent-dim", [](O& o, Name n, V v) { o.train.latent_dim = size(n, v); }},
      {"kraus-rank", [](O& o, Name n, V v) { o.train.kraus_rank = size(n, v); }},
      {"learner", [](O& o, Name, V v) { o.train.learner = parse_learner(v); }},
      {"objective", [](O& o, Name n, V v) { o.objective = objective(n, v); }},
      {"positions", [](O& o, Name, V v) { set_positions(o, v); }},
      {"anchor", [](O& o, Name n, V v) { o.positions.from_end = from_end(n, v); }},
      {"epochs", [](O& o, Name n, V v) { o.train.epochs = count(n, v); }},
      {"generative-epochs", [](O& o, Name n, V v) { o.generative_epochs = count(n, v); }},
      {"batch-size", [](O& o, Name n, V v) { o.train.batch_size = count(n, v); }},
      {"step-size", [](O& o, Name n, V v) { o.train.step_size = real(n, v); }},
      {"momentum", [](O& o, Name n, V v) { o.train.momentum = real(n, v); }},
      {"second-moment", [](O& o, Name n, V v) { o.second_moment = real(n, v); }},
      {"dropout", [](O& o, Name n, V v) { o.dropout = real(n, v); }},
      {"smoothing", [](O& o, Name n, V v) { o.smoothing = real(n, v); }},
      {"start-noise", [](O& o, Name n, V v) { o.start_noise = real(n, v); }},
      {"pseudo-count", [](O& o, Name n, V v) { o.pseudo_count = real(n, v); }},
      {"members", [](O& o, Name n, V v) { o.members = count(n, v); }},
  };
  return all;
}

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
    out.why = "sequences of different lengths: stationary models (--positions to change)";
  } else if (length < 4) {
    out.options.positions = PositionPlan::parse("each");
    out.why = fmt::format("all sequences have {} symbols: a Kraus set of its own for each", length);
  } else {
    out.options.positions = PositionPlan::parse(centred_window(length, length / 4));
    out.why = fmt::format(
        "all sequences have {} symbols: positions in the middle have Kraus sets of their own, {} "
        "on "
        "either side share one (--positions to change)",
        length, out.options.positions.tie);
  }
  return out;
}

std::string default_grid(const ClassifierOptions& base, const SequenceSet& data) {
  const std::size_t length = data.longest();
  std::string out;
  if (base.positions.kind == PositionPlan::Kind::kWindow && one_length(data) && length >= 12) {
    out = fmt::format("positions={},{},{}", centred_window(length, length / 3),
                      centred_window(length, length / 4), centred_window(length, length / 6));
  }
  if (base.objective != ObjectiveKind::kGenerative)
    out += out.empty() ? "dropout=0.3,0.5" : ";dropout=0.3,0.5";
  return out;
}

Recommendation recommended_options(const SequenceSet& data, const GivenOptions& given) {
  Recommendation out = recommended_options(data);
  ClassifierOptions& options = out.options;
  const auto apply = [&](const char* name) {
    if (const auto found = given.find(name); found != given.end())
      set_option(options, name, found->second);
  };
  apply("learner");
  apply("objective");
  apply("positions");
  if (given.contains("positions")) out.why.clear();
  if (options.train.learner != LearnerKind::kNsRis) {
    if (!given.contains("objective")) options.objective = ObjectiveKind::kGenerative;
    if (!given.contains("positions")) {
      options.positions = PositionPlan{};
      out.why = fmt::format("{} learns stationary models, each class by itself",
                            name_of(options.train.learner));
    }
  }
  if (options.objective == ObjectiveKind::kGenerative &&
      options.positions.kind == PositionPlan::Kind::kStationary)
    options.train = default_options(options.train.learner);
  for (const auto& [name, value] : given)
    if (name != "positions") set_option(options, name, value);
  return out;
}

std::string default_grid(const ClassifierOptions& base, const SequenceSet& data,
                         const GivenOptions& given) {
  const std::string whole = default_grid(base, data);
  if (whole.empty()) return {};
  std::string out;
  for (const std::string_view axis : split(whole, ';')) {
    if (given.contains(axis.substr(0, axis.find('=')))) continue;
    out += (out.empty() ? "" : ";") + std::string(axis);
  }
  return out;
}

void set_option(ClassifierOptions& options, std::string_view name, std::string_view value) {
  const auto found = setters().find(name);
  if (found == setters().end()) {
    throw fail(ErrorCode::kUsage, "there is no option '{}' for a grid; expected one of {}",
               printable(name), fmt::join(option_names(), ", "));
  }
  found->second(options, name, value);
}

std::vector<std::string> option_names() {
  std::vector<std::string> out;
  for (const auto& [name, setter] : setters()) out.push_back(name);
  return out;
}

std::vector<ClassifierSetting> parse_grid(std::string_view text, const ClassifierOptions& base) {
  std::vector<ClassifierSetting> out{{"", base}};
  if (text.empty()) return out;
  for (const std::string_view axis : split(text, ';')) {
    const std::size_t equals = axis.find('=');
    if (equals == std::string_view::npos)
      throw fail(ErrorCode::kUsage, "--grid: expected name=value,value;…, found '{}'",
                 printable(axis));
    const std::string_view name = axis.substr(0, equals);
    const std::vector<std::string> values = values_of(axis.substr(equals + 1));
    std::vector<ClassifierSetting> longer;
    for (const ClassifierSetting& before : out) {
      for (const std::string& value : values) {
        ClassifierSetting setting = before;
        set_option(setting.options, name, value);
        if (values.size() > 1)
          setting.text += fmt::format("{}{}={}", before.text.empty() ? "" : " ", name, value);
        longer.push_back(std::move(setting));
      }
    }
    out = std::move(longer);
    if (out.size() > kMostSettings)
      throw fail(ErrorCode::kUsage, "--grid: more than {} settings", kMostSettings);
  }
  return out;
}

}  // namespace hqmm
