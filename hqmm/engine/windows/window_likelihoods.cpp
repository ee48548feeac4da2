#include "hqmm/engine/windows/window_likelihoods.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/scratch_pool.hpp"
#include "hqmm/engine/windows/window_model.hpp"
#include "hqmm/engine/windows/window_pass.hpp"
#include "hqmm/engine/windows/word_tables.hpp"
#include "hqmm/model/mixture.hpp"

namespace hqmm::detail {
namespace {

/// Of the matrices and tables of one model, in bytes.
constexpr double kMostBytes = 512.0 * 1024 * 1024;

bool fits_memory(const AnyModel& model, std::size_t window) {
  const double numbers = window_model_numbers(model);
  if (8.0 * numbers > kMostBytes) return false;
  const Hqmm* hqmm = std::get_if<Hqmm>(&model);
  const double s = static_cast<double>(alphabet_of(model).size());
  const double sets = hqmm == nullptr ? 1.0 : static_cast<double>(hqmm->sets.size());
  const auto size = static_cast<Index>(std::lround(std::sqrt(numbers / sets / (s + 1.0))));
  return 8.0 * numbers + word_table_bytes(size, alphabet_of(model).size(), window) <= kMostBytes;
}

/// By the filter of the model: slow, and right where nearly everything cancels.
double ask_filter(const AnyModel& model, std::span<const Symbol> symbols) {
  return std::visit(
      [&](const auto& m) {
        auto filter = make_filter(m);
        filter.restart(symbols.size());
        double out = 0.0;
        for (const Symbol symbol : symbols) {
          const StepWeight weight = filter.step(symbol);
          if (symbol != kMissing) out += std::log(weight.raw) - std::log(weight.total);
        }
        return out;
      },
      model);
}

double add_logs(double a, double b) {
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

void score_as_sequences(const AnyModel& model, const WindowTile& tile, std::span<double> out) {
  SequenceSet set(alphabet_of(model));
  for (std::size_t i = 0; i < tile.count(); ++i) {
    for (const Symbol symbol : tile.symbols_of(i)) set.push_back(symbol);
    set.end_sequence();
  }
  const auto found = fast_log_likelihoods(model, set, 0, 1);
  for (std::size_t i = 0; i < tile.count(); ++i) out[i] = found[i].log_likelihood;
}

}  // namespace

struct WindowLikelihoods::Parts {
  /// A model, or a member of a mixture.
  struct Part {
    Part(AnyModel of, double log_weight_of, std::size_t window, int threads)
        : model(std::move(of)),
          log_weight(log_weight_of),
          linear(window_model(model)),
          tables(linear, window, threads),
          pass(linear, tables) {}

    AnyModel model;
    double log_weight;
    WindowModel linear;
    WordTables tables;
    WindowPass pass;
  };

  struct Work {
    WindowScratch scratch;
    std::vector<double> of_part;
  };

  const AnyModel* model = nullptr;
  std::vector<std::unique_ptr<const Part>> parts;  // none: window by window
  mutable ScratchPool<Work> pool;
};

WindowLikelihoods::WindowLikelihoods(const AnyModel& model, std::size_t window, int threads) {
  auto parts = std::make_unique<Parts>();
  parts->model = &model;
  Components mixture;
  if (const Hqmm* hqmm = std::get_if<Hqmm>(&model); hqmm != nullptr && is_feasible(model))
    mixture = components_of(*hqmm);
  if (mixture.members.size() > 1) {
    const bool fit = std::all_of(mixture.members.begin(), mixture.members.end(),
                                 [&](const Hqmm& m) { return fits_memory(m, window); });
    for (std::size_t m = 0; fit && m < mixture.members.size(); ++m) {
      parts->parts.push_back(std::make_unique<const Parts::Part>(
          std::move(mixture.members[m]), std::log(mixture.weights[m]), window, threads));
    }
  } else if (is_feasible(model) && fits_memory(model, window)) {
    parts->parts.push_back(std::make_unique<const Parts::Part>(model, 0.0, window, threads));
  }
  parts_ = std::move(parts);
}

WindowLikelihoods::~WindowLikelihoods() = default;
WindowLikelihoods::WindowLikelihoods(WindowLikelihoods&&) noexcept = default;
WindowLikelihoods& WindowLikelihoods::operator=(WindowLikelihoods&&) noexcept = default;

void WindowLikelihoods::score(WindowTile& tile, std::span<double> log_likelihoods) const {
  if (parts_->parts.empty()) return score_as_sequences(*parts_->model, tile, log_likelihoods);
  ScratchPool<Parts::Work>::Loan loan(parts_->pool);
  std::vector<double>& of_part = loan.scratch().of_part;
  of_part.resize(tile.count());
  for (std::size_t m = 0; m < parts_->parts.size(); ++m) {
    const Parts::Part& part = *parts_->parts[m];
    part.pass.run(tile, of_part, loan.scratch().scratch);
    for (std::size_t i = 0; i < tile.count(); ++i) {
      if (std::isnan(of_part[i])) of_part[i] = ask_filter(part.model, tile.symbols_of(i));
      const double share = part.log_weight + of_part[i];
      log_likelihoods[i] = m == 0 ? share : add_logs(log_likelihoods[i], share);
    }
  }
}

}  // namespace hqmm::detail
