// STAND-IN: not for main.
#include "hqmm/data/position_plan.hpp"

#include <fmt/format.h>
#include <map>

#include "hqmm/core/error.hpp"

namespace hqmm {

PositionPlan PositionPlan::parse(std::string_view text) {
  PositionPlan out;
  const std::string copy(text);
  if (text == "stationary") return out;
  if (text == "each") {
    out.kind = Kind::kEach;
    return out;
  }
  if (text.starts_with("map:")) {
    out.kind = Kind::kMap;
    out.file = text.substr(4);
    return out;
  }
  unsigned long a = 0, b = 0, k = 5;
  if (std::sscanf(copy.c_str(), "window:%lu-%lu,tie=%lu", &a, &b, &k) < 2 || b < a || k == 0)
    throw fail(ErrorCode::kUsage,
               "positions: expected stationary, each, window:A-B,tie=K or map:FILE, found '{}'",
               printable(text));
  out.kind = Kind::kWindow;
  out.first = a;
  out.last = b;
  out.tie = k;
  return out;
}

std::string PositionPlan::text() const {
  if (kind == Kind::kEach) return "each";
  if (kind == Kind::kMap) return "map:" + file;
  if (kind == Kind::kWindow) return fmt::format("window:{}-{},tie={}", first, last, tie);
  return "stationary";
}

std::vector<std::uint32_t> PositionPlan::sets(std::size_t length) const {
  std::vector<std::uint32_t> out;
  std::map<long, std::uint32_t> met;
  if (kind == Kind::kMap && map.empty()) throw fail(ErrorCode::kUsage, "the map is empty");
  if (kind == Kind::kWindow && last >= length)
    throw fail(ErrorCode::kUsage, "window beyond the end");
  if (kind == Kind::kMap) return map;
  for (std::size_t t = 0; t < length; ++t) {
    long key = 0;
    if (kind == Kind::kEach || (kind == Kind::kWindow && t >= first && t <= last)) {
      key = static_cast<long>(t);
    } else if (kind == Kind::kWindow && t < first) {
      key = 1000000 + static_cast<long>((first - 1 - t) / tie);
    } else if (kind == Kind::kWindow) {
      key = 2000000 + static_cast<long>((t - last - 1) / tie);
    }
    out.push_back(met.emplace(key, static_cast<std::uint32_t>(met.size())).first->second);
  }
  return out;
}

}  // namespace hqmm
