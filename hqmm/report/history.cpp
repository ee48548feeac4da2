#include "hqmm/report/history.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string_view>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_text.hpp"

namespace hqmm::detail::report {
namespace {

double number_or_none(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : kNone;
}

double bits(const nlohmann::json& figures) {
  const double symbols = number_or_none(figures, "symbols");
  return -number_or_none(figures, "log_likelihood") / (symbols * std::numbers::ln2);
}

Epoch epoch_of(const nlohmann::json& record) {
  Epoch out;
  out.epoch = record.at("epoch").get<std::size_t>();
  out.seconds = number_or_none(record, "seconds");
  out.residual = number_or_none(record, "feasibility_residual");
  out.gradient = number_or_none(record, "gradient_nuclear_norm");
  out.step = number_or_none(record, "step_size");
  if (const auto& train = record.at("train"); train.is_object()) {
    out.train_bits = bits(train);
    out.train_da = number_or_none(train, "da");
  }
  const auto& validation = record.at("validation");
  out.validation_bits = bits(validation);
  out.validation_da = number_or_none(validation, "da");
  if (const auto raw = validation.find("raw"); raw != validation.end() && raw->is_object()) {
    nlohmann::json figures = *raw;
    figures["symbols"] = validation.at("symbols");
    out.raw_validation_bits = bits(figures);
  }
  return out;
}

/// The ends, and of each stretch between them the lowest and the highest validation; and `keep`.
std::vector<Epoch> thinned(const std::vector<Epoch>& all, std::size_t most,
                           std::optional<std::size_t> keep) {
  if (all.size() <= most) return all;
  std::vector<bool> taken(all.size(), false);
  taken.front() = taken.back() = true;
  const std::size_t stretches = std::max<std::size_t>(1, (most - 2) / 2);
  for (std::size_t k = 0; k < stretches; ++k) {
    const auto begin = static_cast<std::ptrdiff_t>(all.size() * k / stretches);
    const auto end = static_cast<std::ptrdiff_t>(all.size() * (k + 1) / stretches);
    const auto by_bits = [](const Epoch& a, const Epoch& b) {
      return a.validation_bits < b.validation_bits;
    };
    const auto [low, high] = std::minmax_element(all.begin() + begin, all.begin() + end, by_bits);
    taken[static_cast<std::size_t>(low - all.begin())] = true;
    taken[static_cast<std::size_t>(high - all.begin())] = true;
  }
  std::vector<Epoch> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (taken[i] || (keep && all[i].epoch == *keep)) out.push_back(all[i]);
  return out;
}

}  // namespace

History parse_history(const std::string& text, const std::string& file) {
  History out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const auto record = parse_json_or_discard(std::string_view(text).substr(from, end - from));
    from = end + 1;
    if (!record.is_object()) continue;
    try {
      const auto restart = record.at("restart").get<std::size_t>();
      const Epoch epoch = epoch_of(record);
      out.restarts[restart].push_back(epoch);
      if (epoch.epoch > 0) ++out.epochs;
      if (std::isfinite(epoch.seconds)) out.seconds = epoch.seconds;
      if (record.at("best").get<bool>()) {
        out.best = epoch;
        out.best_restart = restart;
      }
    } catch (const nlohmann::json::exception&) {
      throw fail(ErrorCode::kBadData, {file, {}, {}, {}, {}}, "is damaged");
    }
  }
  return out;
}

History read_history(const std::string& file) {
  if (!std::filesystem::exists(file)) return {};
  return parse_history(read_all(file), file);
}

Restarts thinned(const History& history, std::size_t most_epochs) {
  // Many restarts share the room of four.
  const std::size_t most = std::max<std::size_t>(
      50, most_epochs * 4 / std::max<std::size_t>(4, history.restarts.size()));
  Restarts out;
  for (const auto& [restart, epochs] : history.restarts) {
    const bool won = history.best && restart == history.best_restart;
    out[restart] = thinned(epochs, most, won ? std::optional(history.best->epoch) : std::nullopt);
  }
  return out;
}

}  // namespace hqmm::detail::report
