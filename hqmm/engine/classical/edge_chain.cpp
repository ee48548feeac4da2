#include "hqmm/engine/classical/edge_chain.hpp"

#include <algorithm>

namespace hqmm {
namespace {

constexpr int kLongestWord = 3;
constexpr std::size_t kSymbolsBetween = 16;  // from one rescaling to the next

Eigen::Map<const RealMatrix, 0, Eigen::OuterStride<>> as_matrix(const double* values,
                                                                const TraceForm& form) {
  return {values, form.rows(), form.rows(), Eigen::OuterStride<>(form.stride())};
}

}  // namespace

EdgeChain::EdgeChain(const EdgeHmm& model) : model_(model), total_(model.transition()) {}

bool EdgeChain::score(std::span<const SequenceView> batch, std::size_t burn_in) {
  const int word_length = longest_word(batch, false);
  write_program({.symbols = model_.edges.size()}, batch, {.burn_in = burn_in}, word_length,
                program_);
  return walk(false, word_length);
}

bool EdgeChain::differentiate(std::span<const SequenceView> batch,
                              std::span<const double> weights) {
  const int word_length = longest_word(batch, true);
  // a missing symbol leaves the weight alone, as the columns of all edges sum to one
  write_program({.symbols = model_.edges.size()}, batch, {.tangent_only = true, .weights = weights},
                word_length, program_);
  return walk(true, word_length) && finite();
}

/// What a word costs by itself must be little against what it saves.
int EdgeChain::longest_word(std::span<const SequenceView> batch, bool backward) const {
  const std::size_t s = model_.edges.size();
  const std::size_t of_word = (backward ? 8 : 4) * static_cast<std::size_t>(model_.latent_dim());
  std::size_t symbols = 0;
  for (const SequenceView& sequence : batch) symbols += sequence.size();
  int length = 1;
  for (std::size_t words = s * s;
       length < kLongestWord && words <= kMostWords && words * of_word <= symbols; words *= s)
    ++length;
  return length;
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
  form_.multiply_words(program_.words, program_.base_operators);
  std::copy_n(model_.initial.data(), n, form_.initial());
}

bool EdgeChain::walk(bool backward, int word_length) {
  write_form();
  log_likelihoods_.resize(program_.sequences());
  log_totals_.resize(program_.sequences());
  result_.log_likelihoods = log_likelihoods_;
  result_.log_totals = log_totals_;
  ChainOptions options;
  options.rescale_every = kSymbolsBetween / static_cast<std::size_t>(word_length);
  options.backward = backward;
  ChainPass<TraceForm> pass(form_, program_, 0, program_.sequences(), options, scratch_, result_);
  if (!pass.run()) return false;
  if (backward) form_.chain_words(program_.words, program_.base_operators, result_.gradients);
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

}  // namespace hqmm
