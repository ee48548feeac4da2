#include "hqmm/evaluate/explain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/model/embedding.hpp"

namespace hqmm::detail {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr double kMostOdds = 700.0;
constexpr std::size_t kRowsAtOnce = 256;

/// Divides by the trace and returns its logarithm; −∞ leaves the matrix alone.
double rescale(Matrix& matrix) {
  const double trace = matrix.trace().real();
  if (!(trace > 0.0)) return kImpossible;
  matrix /= trace;
  return std::log(trace);
}

/// log P(x), then log P(x with t marginalised) for every t.
std::vector<double> marginalised(const Hqmm& model, const SequenceView& x) {
  const std::size_t length = x.size();
  const auto set_at = [&](std::size_t t) -> const KrausSet& {
    return model.sets[model.positions.set_at(t, length)];
  };
  std::vector<Matrix> effects(length + 1);  // effects[t]: of everything from t on
  std::vector<double> log_effect(length + 1, 0.0);
  effects[length] = Matrix::Identity(model.latent_dim(), model.latent_dim());
  for (std::size_t t = length; t-- > 0;) {
    check_interruption(t);
    effects[t] = set_at(t).apply_seen_adjoint(x[t], effects[t + 1]);
    log_effect[t] = log_effect[t + 1] + rescale(effects[t]);
  }
  const auto weight = [&](const Matrix& effect, const Matrix& state, double scale) {
    const double p = (effect.cwiseProduct(state.transpose())).sum().real();
    return p > 0.0 ? std::log(p) + scale : kImpossible;
  };
  std::vector<double> out(length + 1);
  Matrix state = model.initial_state;
  double log_state = 0.0;
  out[0] = weight(effects[0], state, log_effect[0]);
  for (std::size_t t = 0; t < length; ++t) {
    check_interruption(t);
    const Matrix unseen = set_at(t).apply_total(state);
    out[t + 1] = weight(effects[t + 1], unseen, log_state + log_effect[t + 1]);
    state = x[t] == kMissing ? unseen : set_at(t).apply_seen(x[t], state);
    log_state += rescale(state);
  }
  return out;
}

/// log P(c)/(1 − P(c)) of every class from log-likelihood + log prior.
std::vector<double> log_odds(const std::vector<double>& joint) {
  std::vector<double> out(joint.size());
  for (std::size_t c = 0; c < joint.size(); ++c) {
    double top = kImpossible;
    for (std::size_t d = 0; d < joint.size(); ++d)
      if (d != c) top = std::max(top, joint[d]);
    double rest = 0.0;
    for (std::size_t d = 0; d < joint.size() && top > kImpossible; ++d)
      if (d != c) rest += std::exp(joint[d] - top);
    if (joint[c] == kImpossible && top == kImpossible) continue;  // nothing is known: 0
    const double others = top == kImpossible ? kImpossible : top + std::log(rest);
    out[c] = std::clamp(joint[c] - others, -kMostOdds, kMostOdds);
  }
  return out;
}

Hqmm as_hqmm(const AnyModel& model) {
  if (!is_feasible(model)) {
    throw fail(ErrorCode::kBadData,
               "a model that is not trace preserving cannot be explained: "
               "its weights are not probabilities");
  }
  if (const auto* hmm = std::get_if<Hmm>(&model)) return embed_rank_one(*hmm);
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) return embed_rank_one(*hmm);
  return std::get<Hqmm>(model);
}

std::vector<double> contributions(const std::vector<Hqmm>& models,
                                  const std::vector<double>& priors, const SequenceView& x) {
  const std::size_t classes = models.size();
  std::vector<std::vector<double>> joint(x.size() + 1, std::vector<double>(classes));
  for (std::size_t c = 0; c < classes; ++c) {
    const std::vector<double> found = marginalised(models[c], x);
    for (std::size_t t = 0; t <= x.size(); ++t) joint[t][c] = found[t] + std::log(priors[c]);
  }
  const std::vector<double> whole = log_odds(joint[0]);
  std::vector<double> out(x.size() * classes, 0.0);
  for (std::size_t t = 0; t < x.size(); ++t) {
    if (x[t] == kMissing) continue;
    const std::vector<double> without = log_odds(joint[t + 1]);
    for (std::size_t c = 0; c < classes; ++c) out[t * classes + c] = whole[c] - without[c];
  }
  return out;
}

std::vector<Hqmm> all_hqmms(const Classifier& classifier) {
  std::vector<Hqmm> out;
  for (const AnyModel& model : classifier.models) out.push_back(as_hqmm(model));
  return out;
}

}  // namespace

std::vector<double> contributions(const Classifier& classifier, const SequenceView& sequence) {
  return contributions(all_hqmms(classifier), classifier.priors, sequence);
}

Explanation::Explanation(std::vector<std::string> classes, Alphabet alphabet, bool from_end)
    : classes_(std::move(classes)), alphabet_(std::move(alphabet)), from_end_(from_end) {}

void Explanation::add(const Classifier& classifier, const SequenceSet& set,
                      std::span<const std::uint32_t> labels, std::size_t most, int threads) {
  positions_ = std::max(positions_, std::min(set.longest(), kMostPositions));
  own_.resize(positions_ * classes_.size() * alphabet_.size());
  all_.resize(own_.size());
  std::vector<std::size_t> columns;
  for (const std::string& name : classifier.classes) {
    const auto found = std::find(classes_.begin(), classes_.end(), name);
    columns.push_back(static_cast<std::size_t>(found - classes_.begin()));
  }
  const std::vector<Hqmm> models = all_hqmms(classifier);
  const std::size_t rows = std::min(most, set.size());
  for (std::size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows - begin);
    const auto row_at = [&](std::size_t i) { return (begin + i) * set.size() / rows; };
    std::vector<std::vector<double>> found(count);
    parallel_for(count, threads, [&](std::size_t i) {
      found[i] = contributions(models, classifier.priors, set[row_at(i)]);
    });
    for (std::size_t i = 0; i < count; ++i)
      add_row(set[row_at(i)], labels[row_at(i)], found[i], columns);
  }
}

void Explanation::add_row(const SequenceView& row, std::uint32_t label,
                          std::span<const double> found, std::span<const std::size_t> columns) {
  ++rows_;
  for (std::size_t t = 0; t < row.size(); ++t) {
    const std::size_t place = from_end_ ? row.size() - 1 - t : t;
    if (row[t] >= alphabet_.size() || place >= positions_) continue;  // not one symbol
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] >= classes_.size()) continue;
      const double value = found[t * columns.size() + c];
      const std::size_t at = index(columns[c], place, row[t]);
      all_[at].sum += value;
      ++all_[at].rows;
      if (label != columns[c]) continue;
      own_[at].sum += value;
      ++own_[at].rows;
    }
  }
}

std::int64_t Explanation::position_name(std::size_t place) const {
  const auto number = static_cast<std::int64_t>(place);
  return from_end_ ? -1 - number : number;
}

Explanation::Cell Explanation::own(std::size_t c, std::size_t place) const {
  Cell out;
  for (std::size_t y = 0; y < alphabet_.size(); ++y) {
    out.sum += own_[index(c, place, y)].sum;
    out.rows += own_[index(c, place, y)].rows;
  }
  return out;
}
const Explanation::Cell& Explanation::own(std::size_t c, std::size_t place, Symbol symbol) const {
  return own_[index(c, place, symbol)];
}
const Explanation::Cell& Explanation::all(std::size_t c, std::size_t place, Symbol symbol) const {
  return all_[index(c, place, symbol)];
}

std::vector<Explanation::Strong> Explanation::strongest(std::size_t c, std::size_t count) const {
  std::vector<Strong> out;
  for (std::size_t place = 0; place < positions_; ++place) {
    const Cell whole = own(c, place);
    if (whole.rows == 0) continue;
    Strong one{place, whole.mean(), 0, 0.0, 0.0};
    for (std::size_t y = 1; y < alphabet_.size(); ++y) {
      const auto symbol = static_cast<Symbol>(y);
      if (own(c, place, symbol).sum > own(c, place, one.symbol).sum) one.symbol = symbol;
    }
    one.symbol_mean = all(c, place, one.symbol).mean();
    one.symbol_share =
        static_cast<double>(own(c, place, one.symbol).rows) / static_cast<double>(whole.rows);
    out.push_back(one);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Strong& a, const Strong& b) { return a.mean > b.mean; });
  out.resize(std::min(out.size(), count));
  return out;
}

}  // namespace hqmm::detail
