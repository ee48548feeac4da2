#include "hqmm/engine/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/hmm_forward.hpp"
#include "hqmm/engine/quantum/chain.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/factor.hpp"
#include "hqmm/engine/quantum/kraus_form.hpp"
#include "hqmm/engine/quantum/superoperator.hpp"
#include "hqmm/engine/scratch_pool.hpp"
#include "hqmm/model/mixture.hpp"

namespace hqmm {
namespace {

/// Programs are written for so many symbols at a time; longer sequences go in slices.
constexpr std::size_t kSymbols = std::size_t{1} << 20;
/// A step below this may be an impossible symbol: states are known to about 1e-16.
constexpr double kSuspect = 1e-9;

/// A few sequences, or a slice of a long one, in the form that suits them.
class ForwardPass {
 public:
  ForwardPass(const Hqmm& model, bool feasible, int threads)
      : model_(model), feasible_(feasible), threads_(threads) {}

  /// What came of the sequences of the last run. A suspect's number is not to be believed.
  std::vector<double> log_likelihoods, log_totals;
  std::vector<char> suspects;
  [[nodiscard]] std::uint64_t scored(std::size_t i) const { return program_.scored[i]; }

  void run(std::span<const SequenceView> batch, std::size_t burn_in) {
    choice_ = choose(shape_of(model_, batch, feasible_), EngineKind::kAuto);
    carried_.clear();
    walk_batch(batch, burn_in);
  }

  /// The next slice of the sequence that run() began with its first.
  void run_on(const SequenceView& slice, std::size_t burn_in) { walk_batch({&slice, 1}, burn_in); }

 private:
  void walk_batch(std::span<const SequenceView> batch, std::size_t burn_in) {
    GradientOptions options;
    options.burn_in = burn_in;
    write_program(model_, batch, options, choice_.word_length, program_);
    log_likelihoods.assign(batch.size(), 0.0);
    log_totals.assign(batch.size(), 0.0);
    suspects.assign(batch.size(), 0);
    switch (choice_.engine) {
      case EngineKind::kPure:
      case EngineKind::kFactor:
        write_factor_form(model_, program_, factor_initial_state(model_), feasible_, norm_form_);
        norm_form_.multiply_words(program_.words, program_.base_operators);
        walk(norm_form_);
        break;
      case EngineKind::kKraus:
        kraus_form_.write(model_, feasible_);
        walk(kraus_form_);
        break;
      default:
        write_superoperators(model_, program_, feasible_, threads_, scratch_, trace_form_);
        trace_form_.multiply_words(program_.words, program_.base_operators);
        walk(trace_form_);
        break;
    }
  }

  template <typename Form>
  void walk(Form& form) {
    if (!carried_.empty()) std::copy(carried_.begin(), carried_.end(), form.initial());
    const std::size_t parts = (program_.sequences() + choice_.part - 1) / choice_.part;
    parallel_for(parts, threads_, [&](std::size_t i) { walk_part(form, i); });
  }

  template <typename Form>
  void walk_part(const Form& form, std::size_t part) {
    const std::size_t first = part * choice_.part;
    const std::size_t last = std::min(program_.sequences(), first + choice_.part);
    ChainOptions options;
    options.rescale_every = 16 / static_cast<std::size_t>(choice_.word_length);
    options.backward = false;
    options.normalise = !feasible_;
    options.suspect_below = kSuspect;
    ChainResult result;
    result.log_likelihoods = log_likelihoods;
    result.log_totals = log_totals;
    result.suspects = suspects;
    ScratchPool<ChainScratch>::Loan loan(pool_);
    ChainPass<Form> pass(form, program_, first, last, options, loan.scratch(), result);
    if (!pass.run()) std::fill(&suspects[first], &suspects[first] + (last - first), 1);
    if (program_.sequences() == 1 && program_.length(0) > 0)
      carry(form, loan.scratch().last.data());
  }

  /// The state behind the last symbol, of weight one.
  template <typename Form>
  void carry(const Form& form, const double* x) {
    const double weight = form.weight(x);
    const double scale = 1.0 / (Form::kDegree == 1 ? weight : std::sqrt(weight));
    carried_.assign(x, x + form.state_size());
    for (double& value : carried_) value *= scale;
  }

  const Hqmm& model_;
  bool feasible_;
  int threads_;
  Choice choice_;
  Program program_;
  NormForm norm_form_;
  TraceForm trace_form_;
  KrausForm kraus_form_;
  SymbolScratch scratch_;
  ScratchPool<ChainScratch> pool_;
  std::vector<double> carried_;
};

class SetPass {
 public:
  SetPass(const Hqmm& model, const SequenceSet& set, std::size_t burn_in, int threads)
      : model_(model),
        set_(set),
        burn_in_(burn_in),
        threads_(threads),
        feasible_(is_feasible(model)),
        pass_(model, feasible_, threads),
        out_(set.size()) {}

  std::vector<SequenceLikelihood> run() {
    const bool slices = model_.positions.stationary();
    for (std::size_t i = 0; i < set_.size();) {
      if (slices && set_[i].size() > kSymbols) {
        run_long(i++);
        continue;
      }
      std::size_t end = i;
      std::size_t symbols = 0;
      while (end < set_.size() && (end == i || symbols + set_[end].size() <= kSymbols))
        symbols += set_[end++].size();
      run_batch(i, end);
      i = end;
    }
    ask_filter();
    return std::move(out_);
  }

 private:
  void run_batch(std::size_t begin, std::size_t end) {
    std::vector<SequenceView> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(set_[i]);
    pass_.run(batch, burn_in_);
    for (std::size_t i = begin; i < end; ++i) add(i, i - begin);
  }

  void run_long(std::size_t i) {
    const SequenceView sequence = set_[i];
    for (std::size_t begin = 0; begin < sequence.size(); begin += kSymbols) {
      const SequenceView slice = sequence.part(begin, std::min(kSymbols, sequence.size() - begin));
      const std::size_t burn_in = burn_in_ > begin ? burn_in_ - begin : 0;
      if (begin == 0) {
        pass_.run({&slice, 1}, burn_in);
      } else {
        pass_.run_on(slice, burn_in);
      }
      add(i, 0);
      if (!asked_.empty() && asked_.back() == i) return;
    }
  }

  /// Takes in what the pass says of its sequence `at`.
  void add(std::size_t i, std::size_t at) {
    if (pass_.suspects[at] != 0) {
      asked_.push_back(i);
      return;
    }
    out_[i].scored += pass_.scored(at);
    out_[i].raw_log_likelihood += pass_.log_likelihoods[at];
    out_[i].log_likelihood += pass_.log_likelihoods[at] - pass_.log_totals[at];
  }

  void ask_filter() {
    parallel_for(asked_.size(), threads_, [&](std::size_t k) {
      HqmmFilter filter(model_);
      out_[asked_[k]] = log_likelihood(filter, set_[asked_[k]], burn_in_);
    });
  }

  const Hqmm& model_;
  const SequenceSet& set_;
  std::size_t burn_in_;
  int threads_;
  bool feasible_;
  ForwardPass pass_;
  std::vector<SequenceLikelihood> out_;
  std::vector<std::size_t> asked_;  // sequences for the filter
};

/// log(e^a + e^b)
double log_add(double a, double b) {
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// A mixture by its members, whose states are smaller: log Σ_m λ_m P_m.
std::vector<SequenceLikelihood> by_members(const Components& mixture, const SequenceSet& set,
                                           int threads) {
  std::vector<SequenceLikelihood> out;
  for (std::size_t m = 0; m < mixture.members.size(); ++m) {
    const double log_weight = std::log(mixture.weights[m]);
    const auto one = SetPass(mixture.members[m], set, 0, threads).run();
    if (m == 0) out = one;
    for (std::size_t i = 0; i < one.size(); ++i) {
      SequenceLikelihood& sum = out[i];
      const double share = log_weight + one[i].log_likelihood;
      sum.log_likelihood = m == 0 ? share : log_add(sum.log_likelihood, share);
      sum.raw_log_likelihood = sum.log_likelihood;
      // impossible once it is for every member
      if (!one[i].impossible_at) {
        sum.impossible_at.reset();
      } else if (sum.impossible_at) {
        sum.impossible_at = std::max(*sum.impossible_at, *one[i].impossible_at);
      }
    }
  }
  return out;
}

}  // namespace

std::vector<SequenceLikelihood> fast_log_likelihoods(const AnyModel& model, const SequenceSet& set,
                                                     std::size_t burn_in, int threads) {
  require_fitting(model, set);
  if (const Hmm* hmm = std::get_if<Hmm>(&model))
    return hmm_log_likelihoods(*hmm, set, burn_in, threads);
  // One product of a matrix and a vector per symbol is what its filter takes anyway.
  if (std::holds_alternative<EdgeHmm>(model)) return log_likelihoods(model, set, burn_in, threads);
  const Hqmm& hqmm = std::get<Hqmm>(model);
  if (burn_in == 0 && is_feasible(hqmm)) {
    const Components mixture = components_of(hqmm);
    if (mixture.members.size() > 1) return by_members(mixture, set, threads);
  }
  return SetPass(hqmm, set, burn_in, threads).run();
}

}  // namespace hqmm
