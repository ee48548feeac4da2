#include "support/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace hqmm::cli {
namespace {

constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string letters;  // "en_GB.UTF-8", "C.utf8"
    for (const char c : std::string_view(value))
      if (c != '-') letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return letters.find(".utf8") != std::string::npos;
  }
  return false;
}

void Sparkline::add(double value) {
  if (!std::isfinite(value)) return;
  if (bins_.empty() || bins_.back().count == stride_) {
    if (bins_.size() == kWidest) {
      for (std::size_t i = 0; i < kWidest / 2; ++i) {
        const Bin &first = bins_[2 * i], &second = bins_[2 * i + 1];
        bins_[i] = {first.sum + second.sum, first.count + second.count};
      }
      bins_.resize(kWidest / 2);
      stride_ *= 2;
    }
    bins_.emplace_back();
  }
  bins_.back().sum += value;
  ++bins_.back().count;
}

std::string Sparkline::text(std::size_t most) const {
  const std::size_t first = bins_.size() - std::min(most, bins_.size());
  std::vector<double> means;
  for (std::size_t i = first; i < bins_.size(); ++i)
    means.push_back(bins_[i].sum / static_cast<double>(bins_[i].count));
  if (means.empty()) return "";
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  const double span = *high - *low;
  std::string out;
  for (const double mean : means) {
    const double share = span > 0.0 ? (mean - *low) / span : 0.0;
    out += kBlocks[static_cast<std::size_t>(std::lround(share * (kBlocks.size() - 1)))];
  }
  return out;
}

}  // namespace hqmm::cli
