#include "hqmm/engine/gradient.hpp"

#include <algorithm>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/chain.hpp"
#include "hqmm/engine/choose.hpp"
#include "hqmm/engine/factor.hpp"
#include "hqmm/engine/kraus_form.hpp"
#include "hqmm/engine/reference.hpp"
#include "hqmm/engine/superoperator.hpp"

namespace hqmm {

BatchGradient& BatchGradient::operator+=(const BatchGradient& other) {
  scored += other.scored;
  log_likelihood += other.log_likelihood;
  raw_log_likelihood += other.raw_log_likelihood;
  if (sets.empty()) {
    sets = other.sets;
    initial_state = other.initial_state;
    return *this;
  }
  for (std::size_t i = 0; i < other.sets.size(); ++i) sets[i] += other.sets[i];
  if (other.initial_state.size() > 0) initial_state += other.initial_state;
  return *this;
}

namespace {

BatchGradient naive_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                             const GradientOptions& options, int threads) {
  return parallel_reduce(
      batch.size(), threads, BatchGradient{},
      [&](std::size_t i) {
        try {
          return reference_gradient(model, batch[i], options);
        } catch (const NotFiniteError& error) {
          throw NotFiniteError({i, error.place().position});
        }
      },
      [](BatchGradient a, const BatchGradient& b) {
        a += b;
        return a;
      });
}

/// Passes over parts of the batch and their sum, along a fixed tree within rounds of a fixed
/// number of parts: the same bytes at any thread count, and memory for one round only.
template <typename Form>
bool run_parts(const Form& form, const Program& program, std::size_t part,
               const ChainOptions& options, int threads, ChainResult& total) {
  constexpr std::size_t kRound = 16;
  const std::size_t parts = (program.sequences() + part - 1) / part;
  for (std::size_t begin = 0; begin < parts; begin += kRound) {
    const std::size_t count = std::min(kRound, parts - begin);
    std::vector<ChainResult> results(count);
    std::vector<char> good(count, 0);
    parallel_for(count, threads, [&](std::size_t i) {
      results[i].log_likelihoods = total.log_likelihoods;
      results[i].log_totals = total.log_totals;
      const std::size_t first = (begin + i) * part;
      const std::size_t last = std::min(program.sequences(), first + part);
      good[i] = ChainPass<Form>(form, program, first, last, options, results[i]).run() ? 1 : 0;
    });
    if (std::find(good.begin(), good.end(), 0) != good.end()) return false;
    for (std::size_t stride = 1; stride < count; stride *= 2)
      for (std::size_t i = 0; i + stride < count; i += 2 * stride) results[i] += results[i + stride];
    if (begin == 0) {
      total.gradients = std::move(results[0].gradients);
      total.initial = std::move(results[0].initial);
      total.least = results[0].least;
    } else {
      total += results[0];
    }
  }
  return true;
}

/// One way through a form of a model, from program to gradient.
class FastGradient {
 public:
  FastGradient(const Hqmm& model, std::span<const SequenceView> batch,
               const GradientOptions& options, bool feasible, int threads)
      : model_(model), batch_(batch), options_(options), feasible_(feasible), threads_(threads) {}

  /// False when a weight left the range that is safe at this pace, or the gradient overflowed. The
  /// careful way rescales at every step and throws NotFiniteError instead.
  [[nodiscard]] bool run(const Choice& choice, bool careful) {
    choice_ = choice;
    if (careful) choice_.gram = 1;
    pace_ = careful ? 1 : 16 / static_cast<std::size_t>(choice_.gram);
    write_program(model_, batch_, options_, choice_.gram, program_);
    log_likelihoods_.resize(program_.sequences());
    log_totals_.resize(program_.sequences());
    result_ = {log_likelihoods_, log_totals_, {}, {}, {}};
    out_ = {};
    if (!run_form()) return false;
    add_likelihoods();
    const auto finite = [](const auto& m) { return m.allFinite(); };
    if (std::all_of(out_.sets.begin(), out_.sets.end(), finite) && finite(out_.initial_state))
      return true;
    if (careful) throw NotFiniteError({result_.least.sequence, result_.least.position});
    return false;
  }

  [[nodiscard]] BatchGradient take() { return std::move(out_); }

 private:
  bool run_form() {
    switch (choice_.engine) {
      case EngineKind::kPure:
      case EngineKind::kFactor: {
        const StateFactor state = factor_initial_state(model_);
        const NormForm form = factor_form(model_, program_, state, feasible_);
        if (!walk(form)) return false;
        factor_gradient(model_, program_, form, state, result_.gradients, result_.initial, out_);
        return true;
      }
      case EngineKind::kKraus: {
        const KrausForm form(model_, feasible_);
        if (!walk(form)) return false;
        form.write_gradient(model_, result_.gradients, result_.initial, out_);
        return true;
      }
      default: {
        const TraceForm form = superoperator_form(model_, program_, feasible_, threads_);
        if (!walk(form)) return false;
        superoperator_gradient(model_, program_, form, result_.gradients, result_.initial,
                               threads_, out_);
        return true;
      }
    }
  }

  template <typename Form>
  bool walk(const Form& form) {
    ChainOptions options;
    options.rescale_every = pace_;
    options.normalise = !feasible_;
    if (!run_parts(form, program_, choice_.part, options, threads_, result_)) return false;
    if (!options_.want_initial_state) result_.initial.clear();
    return true;
  }

  void add_likelihoods() {
    for (std::size_t i = 0; i < program_.sequences(); ++i) {
      out_.scored += program_.scored[i];
      out_.raw_log_likelihood += log_likelihoods_[i];
      out_.log_likelihood += log_likelihoods_[i] - log_totals_[i];
    }
  }

  const Hqmm& model_;
  std::span<const SequenceView> batch_;
  const GradientOptions& options_;
  bool feasible_;
  int threads_;
  Choice choice_;
  std::size_t pace_ = 16;  // steps from one rescaling to the next
  Program program_;
  std::vector<double> log_likelihoods_, log_totals_;
  ChainResult result_;
  BatchGradient out_;
};

BatchShape shape_of(const Hqmm& model, std::span<const SequenceView> batch, bool feasible) {
  BatchShape out{model.latent_dim(), model.kraus_rank(), model.alphabet_size()};
  out.sets = model.sets.size();
  out.stationary = model.positions.stationary();
  out.feasible = feasible;
  out.sequences = batch.size();
  if (out.w == 1) out.state_rank = factor_initial_state(model).roots.size();
  for (const SequenceView& sequence : batch) {
    out.symbols += sequence.size();
    out.longest = std::max(out.longest, sequence.size());
    out.missing = out.missing || sequence.has_missing();
  }
  return out;
}

}  // namespace

BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                       const GradientOptions& options, int threads) {
  if (batch.empty() || options.engine == EngineKind::kNaive)
    return naive_gradient(model, batch, options, threads);
  const bool feasible = is_feasible(model);
  const Choice choice = choose(shape_of(model, batch, feasible), options.engine);
  FastGradient fast(model, batch, options, feasible, threads);
  if (!fast.run(choice, false)) static_cast<void>(fast.run(choice, true));
  return fast.take();
}

}  // namespace hqmm
