#include "hqmm/engine/classical/edge_chain.hpp"

#include <algorithm>

namespace hqmm::detail {
namespace {

constexpr std::size_t kLongestWord = 3;
constexpr std::size_t kSymbolsBetween = 16;  // from one rescaling to the next

Eigen::Map<const RealMatrix, 0, Eigen::OuterStride<>> as_matrix(const double* values,
                                                                const TraceForm& form) {
  return {values, form.rows(), form.rows(), Eigen::OuterStride<>(form.stride())};
}

}  // namespace

bool any_known(const SequenceView& sequence) {
  for (std::size_t t = 0; t < sequence.size(); ++t)
    if (sequence[t] != kMissing) return true;
  return false;
}

EdgeChain::EdgeChain(const EdgeHmm& model) : model_(model), total_(model.transition()) {}

bool EdgeChain::score(std::span<const SequenceView> batch, std::size_t burn_in) {
  write(batch, false, {.burn_in = burn_in});
  return walk(0, batch.size(), {.backward = false});
}

bool EdgeChain::differentiate(std::span<const SequenceView> batch,
                              std::span<const double> weights) {
  // a missing symbol leaves the weight alone, as the columns of all edges sum to one
  write(batch, true, {.tangent_only = true, .weights = weights});
  return walk(0, batch.size(), {}) && finite();
}

void EdgeChain::load(std::span<const SequenceView> pieces, double weight) {
  write(pieces, true, {.tangent_only = true});
  std::fill(program_.weights.begin(), program_.weights.end(), weight);
}

std::optional<double> EdgeChain::advance(std::size_t k, double* x) {
  if (!walk(k, k + 1, {.backward = false, .starts = x})) return {};
  const double* last = scratch_.last.data();
  const double weight = form_.weight(last);
  std::fill_n(x, state_size(), 0.0);
  for (Index i = 0; i < model_.latent_dim(); ++i) x[i] = last[i] / weight;
  return log_likelihoods_[k];
}

bool EdgeChain::differentiate_between(const double* starts, const double* ends) {
  return walk(0, program_.sequences(), {.starts = starts, .ends = ends}) && finite();
}

/// What a word costs by itself must be little against what it saves.
void EdgeChain::write(std::span<const SequenceView> batch, bool backward,
                      const ProgramOptions& options) {
  const std::size_t s = model_.edges.size();
  const std::size_t of_word = (backward ? 8 : 4) * static_cast<std::size_t>(model_.latent_dim());
  std::size_t symbols = 0;
  for (const SequenceView& sequence : batch) symbols += sequence.size();
  word_length_ = 1;
  for (std::size_t words = s * s;
       word_length_ < kLongestWord && words <= kMostWords && words * of_word <= symbols; words *= s)
    ++word_length_;
  write_program({.symbols = s}, batch, options, static_cast<int>(word_length_), 1, program_);
  write_form();
  log_likelihoods_.resize(program_.sequences());
  log_totals_.resize(program_.sequences());
}

void EdgeChain::write_form() {
  const Index n = model_.latent_dim();
  const std::size_t s = model_.edges.size();
  form_.reshape(n, 1, n, program_.operators());
  for (std::size_t op = 0; op <= s; ++op) {
    const RealMatrix& step = op < s ? model_.edges[op] : total_;
    for (Index j = 0; j < n; ++j)
      std::copy_n(step.col(j).data(), n, form_.forward_matrix(op) + j * form_.stride());
    form_.transpose(op);
  }
  form_.multiply_words(program_, 1);
  std::copy_n(model_.initial.data(), n, form_.initial());
}

bool EdgeChain::walk(std::size_t first, std::size_t last, const ChainOptions& how) {
  result_.log_likelihoods = log_likelihoods_;
  result_.log_totals = log_totals_;
  ChainOptions options = how;
  options.rescale_every = kSymbolsBetween / word_length_;
  ChainPass<TraceForm> pass(form_, program_, first, last, options, scratch_, result_);
  if (!pass.run()) return false;
  if (options.backward) form_.chain_words(program_, 1, result_.gradients);
  return true;
}

bool EdgeChain::finite() const {
  for (std::size_t op = 0; op <= model_.edges.size(); ++op) {
    if (result_.gradients.used(op) && !as_matrix(result_.gradients.values(op), form_).allFinite())
      return false;
  }
  // what lies beyond the states is padding
  return Eigen::Map<const RealVector>(result_.initial.data(), model_.latent_dim()).allFinite();
}

void EdgeChain::add_derivative(std::size_t y, RealMatrix& out) const {
  if (result_.gradients.used(y)) out += as_matrix(result_.gradients.values(y), form_);
}

void EdgeChain::add_initial_derivative(RealVector& out) const {
  out += Eigen::Map<const RealVector>(result_.initial.data(), model_.latent_dim());
}

}  // namespace hqmm::detail
