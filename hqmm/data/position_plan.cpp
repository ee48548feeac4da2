#include "hqmm/data/position_plan.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "hqmm/core/fail.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::string_view kWindowPrefix = "window:";
constexpr std::string_view kMapPrefix = "map:";
constexpr std::string_view kTiePrefix = "tie=";
/// Beyond any sequence, and far from where sums of positions could wrap around.
constexpr std::size_t kMostPositions = std::size_t{1} << 32;

[[noreturn]] void refuse(std::string_view text) {
  throw fail(ErrorCode::kUsage,
             "{}: expected stationary, each, window:A-B, "
             "window:A-B,tie=K (A ≤ B, K ≥ 1) or map:FILE",
             option("positions", printable(text)));
}

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stopped != end || value > kMostPositions) return {};
  return value;
}

PositionPlan parse_window(std::string_view text) {
  PositionPlan plan;
  plan.kind = PositionPlan::Kind::kWindow;
  std::string_view range = text.substr(kWindowPrefix.size());
  if (const std::size_t comma = range.find(','); comma != std::string_view::npos) {
    const std::string_view rest = range.substr(comma + 1);
    const auto tie =
        rest.starts_with(kTiePrefix) ? parse_number(rest.substr(kTiePrefix.size())) : std::nullopt;
    if (!tie || *tie == 0) refuse(text);
    plan.tie = *tie;
    range = range.substr(0, comma);
  }
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) refuse(text);
  const auto first = parse_number(range.substr(0, dash));
  const auto last = parse_number(range.substr(dash + 1));
  if (!first || !last || *first > *last) refuse(text);
  plan.first = *first;
  plan.last = *last;
  return plan;
}

/// A name for the set of a position: positions of equal names share one.
std::size_t name_in_window(const PositionPlan& plan, std::size_t t) {
  const std::size_t width = plan.last - plan.first + 1;
  if (t < plan.first) return width + 2 * ((plan.first - 1 - t) / plan.tie);
  if (t > plan.last) return width + 2 * ((t - plan.last - 1) / plan.tie) + 1;
  return t - plan.first;
}

std::size_t name_of_position(const PositionPlan& plan, std::size_t t) {
  switch (plan.kind) {
    case PositionPlan::Kind::kEach:
      return t;
    case PositionPlan::Kind::kWindow:
      return name_in_window(plan, t);
    case PositionPlan::Kind::kMap:
      return plan.map[std::min(t, plan.map.size() - 1)];
    case PositionPlan::Kind::kStationary:
      break;
  }
  return 0;
}

}  // namespace

PositionPlan PositionPlan::parse(std::string_view text) {
  PositionPlan plan;
  if (text == "stationary") return plan;
  if (text == "each") {
    plan.kind = Kind::kEach;
    return plan;
  }
  if (text.starts_with(kWindowPrefix)) return parse_window(text);
  if (!text.starts_with(kMapPrefix) || text.size() == kMapPrefix.size()) refuse(text);
  plan.kind = Kind::kMap;
  plan.file = text.substr(kMapPrefix.size());
  return plan;
}

std::string PositionPlan::text() const {
  switch (kind) {
    case Kind::kEach:
      return "each";
    case Kind::kWindow:
      return fmt::format("{}{}-{},{}{}", kWindowPrefix, first, last, kTiePrefix, tie);
    case Kind::kMap:
      return fmt::format("{}{}", kMapPrefix, file);
    case Kind::kStationary:
      break;
  }
  return "stationary";
}

std::vector<std::uint32_t> PositionPlan::sets(std::size_t length) const {
  if (kind == Kind::kWindow && last >= length) {
    throw fail(ErrorCode::kUsage, "{}: the longest sequence has positions 0 to {} only",
               option("positions", printable(text(), 200)), length == 0 ? 0 : length - 1);
  }
  if (kind == Kind::kMap && map.empty())
    throw fail(ErrorCode::kUsage, "{}: the map is empty",
               option("positions", printable(text(), 200)));
  std::vector<std::uint32_t> out(length);
  std::map<std::size_t, std::uint32_t> numbers;
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t name = name_of_position(*this, from_end ? length - 1 - t : t);
    const auto next = static_cast<std::uint32_t>(numbers.size());
    out[t] = numbers.try_emplace(name, next).first->second;
  }
  return out;
}

}  // namespace hqmm
