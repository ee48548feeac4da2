#include "hqmm/engine/quantum/gradient.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <type_traits>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/chain/chain.hpp"
#include "hqmm/engine/chain/two_way.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/forms.hpp"
#include "hqmm/engine/quantum/hqmm_program.hpp"
#include "hqmm/engine/quantum/lanes.hpp"
#include "hqmm/engine/quantum/reference.hpp"
#include "hqmm/engine/quantum/shared_gradient.hpp"
#include "hqmm/engine/scratch_pool.hpp"

namespace hqmm::detail {

BatchGradient& BatchGradient::operator+=(const BatchGradient& other) {
  scored += other.scored;
  log_likelihood += other.log_likelihood;
  raw_log_likelihood += other.raw_log_likelihood;
  if (sets.empty()) {
    sets = other.sets;
    emissions = other.emissions;
    initial_state = other.initial_state;
    return *this;
  }
  for (std::size_t i = 0; i < other.sets.size(); ++i) sets[i] += other.sets[i];
  for (std::size_t i = 0; i < other.emissions.size(); ++i) emissions[i] += other.emissions[i];
  if (other.initial_state.size() > 0) initial_state += other.initial_state;
  return *this;
}

struct GradientScratch::Contents {
  Program program;
  std::vector<double> log_likelihoods, log_totals;
  Forms forms;
  LanesTable lanes_table;
  std::vector<LanesResult> lanes_results;  // of the parts of a batch
  std::vector<LanesScratch> lanes_scratch;
  ScratchPool<ChainScratch> pool;
  std::vector<ChainResult> results;  // of the parts of a round
  TreeSum<ChainResult> sum;
  ChainResult total;
};

GradientScratch::GradientScratch() : contents_(std::make_unique<Contents>()) {}
GradientScratch::GradientScratch(GradientScratch&&) noexcept = default;
GradientScratch& GradientScratch::operator=(GradientScratch&&) noexcept = default;
GradientScratch::~GradientScratch() = default;

namespace {

std::vector<ChainResult*> pointers_to(std::span<ChainResult> results) {
  std::vector<ChainResult*> out;
  for (ChainResult& result : results) out.push_back(&result);
  return out;
}

/// A pass over the sequences [first, last) of a program; false as its run() says.
template <Form F>
bool run_part(const F& form, const Choice& choice, const Program& program, std::size_t first,
              std::size_t last, const ChainOptions& options, ChainScratch& scratch,
              ChainResult& out) {
  if constexpr (std::is_same_v<F, TraceForm>) {
    if (choice.two_way) return TwoWayPass(form, program, first, last, options, scratch, out).run();
  }
  return ChainPass<F>(form, program, first, last, options, scratch, out).run();
}

/// Passes over a share of the parts of the batch and their sum along a fixed tree, in rounds that
/// are nodes of it: the same bytes at any thread count, and memory for one round and a few nodes.
template <Form F>
bool run_parts(const F& form, const Choice& choice, const ChainOptions& options, Share share,
               int threads, GradientScratch::Contents& scratch) {
  const std::size_t part = choice.part;
  const Program& program = scratch.program;
  // as many tables of gradients as fit 64 MiB, and two for two threads
  const std::size_t table_bytes = form.gradient_count() * form.gradient_size() * sizeof(double);
  const std::size_t round = std::bit_floor(std::clamp<std::size_t>(
      (std::size_t{64} << 20) / std::max<std::size_t>(1, table_bytes), 2, 16));
  const auto level = static_cast<unsigned>(std::countr_zero(round));
  const std::size_t parts = (program.sequences() + part - 1) / part;
  const std::size_t end = share.end(parts);
  std::vector<ChainResult>& results = scratch.results;
  if (results.size() < std::min(round, parts)) results.resize(std::min(round, parts));
  scratch.sum.clear();
  std::atomic<bool> good = true;
  for (std::size_t begin = share.begin(parts); begin < end;) {
    const std::size_t count = std::min(round - begin % round, end - begin);
    parallel_for(count, threads, [&](std::size_t i) {
      results[i].log_likelihoods = scratch.log_likelihoods;
      results[i].log_totals = scratch.log_totals;
      results[i].least = {};
      const std::size_t first = (begin + i) * part;
      const std::size_t last = std::min(program.sequences(), first + part);
      ScratchPool<ChainScratch>::Loan loan(scratch.pool);
      if (!run_part(form, choice, program, first, last, options, loan.scratch(), results[i]))
        good = false;
    });
    if (!good) return false;
    const auto add = [&](ChainResult& a, ChainResult& b) {
      fold_results(std::array{&a, &b}, threads);
    };
    if (begin % round == 0 && (count == round || begin + count == parts)) {
      fold_results(pointers_to(std::span(results).first(count)), threads);
      scratch.sum.add(level, begin / round, results[0], add);
    } else {
      for (std::size_t i = 0; i < count; ++i) scratch.sum.add(0, begin + i, results[i], add);
    }
    begin += count;
  }
  return true;
}

/// One way through a form of a model, from program to gradient.
class FastGradient {
 public:
  FastGradient(const Hqmm& model, std::span<const SequenceView> batch,
               const GradientOptions& options, bool feasible, int threads,
               GradientScratch::Contents& scratch)
      : model_(model),
        batch_(batch),
        options_(options),
        feasible_(feasible),
        threads_(threads),
        scratch_(scratch) {}

  /// False when a weight left the range that is safe at this pace, or the gradient overflowed. The
  /// careful way rescales at every step and throws NotFiniteError instead.
  [[nodiscard]] bool run(const Choice& choice, bool careful) {
    choice_ = choice;
    if (careful) {
      choice_.word_length = 1;
      choice_.part = 1;  // of several sequences that fail, the first is named
      choice_.two_way = false;
      if (choice_.engine == EngineKind::kLanes) choice_.engine = EngineKind::kSuperoperator;
    }
    careful_ = careful;
    pace_ = careful ? 1 : 16 / static_cast<std::size_t>(choice_.word_length);
    write_program(model_, batch_, options_, choice_.word_length, threads_, scratch_.program);
    scratch_.log_likelihoods.resize(batch_.size());
    scratch_.log_totals.resize(batch_.size());
    out_ = {};
    if (!run_form()) return false;
    add_likelihoods();
    const auto finite = [](const auto& m) { return m.allFinite(); };
    if (std::all_of(out_.sets.begin(), out_.sets.end(), finite) &&
        std::all_of(out_.emissions.begin(), out_.emissions.end(), finite) &&
        finite(out_.initial_state))
      return true;
    const LeastWeight& least = scratch_.total.least;
    if (careful) throw NotFiniteError({least.sequence, least.position});
    return false;
  }

  [[nodiscard]] BatchGradient take() { return std::move(out_); }

  /// A share of the walk, for rank 0 to put together.
  [[nodiscard]] std::string run_share(const Choice& choice, Share share) {
    choice_ = choice;
    pace_ = 16 / static_cast<std::size_t>(choice_.word_length);
    write_program(model_, batch_, options_, choice_.word_length, threads_, scratch_.program);
    scratch_.log_likelihoods.resize(batch_.size());
    scratch_.log_totals.resize(batch_.size());
    const FormSource from{model_, scratch_.program, feasible_, threads_};
    return scratch_.forms.with_form(choice_, from, [&](auto& form) {
      GradientReply reply;
      reply.good = run_parts(form, choice_, chain_options(), share, threads_, scratch_);
      if (reply.good) reply.keep(likelihoods_of(share), scratch_.sum);
      return reply.packed();
    });
  }

 private:
  bool run_form() {
    const FormSource from{model_, scratch_.program, feasible_, threads_};
    if (choice_.engine == EngineKind::kLanes) return run_lanes(from);
    return scratch_.forms.with_form(choice_, from, [&](auto& form) {
      if (!walk(form)) return false;
      scratch_.forms.write_gradient(form, from, scratch_.total, out_);
      return true;
    });
  }

  bool run_lanes(const FormSource& from) {
    const TraceForm& form = scratch_.forms.write_base(from);
    if (!walk_lanes(form)) return false;
    scratch_.forms.write_base_gradient(form, from, scratch_.total, out_);
    return true;
  }

  bool walk_lanes(const TraceForm& form) {
    const Program& program = scratch_.program;
    scratch_.lanes_table.write(form, program);
    std::fill(scratch_.log_totals.begin(), scratch_.log_totals.end(), 0.0);
    const std::size_t parts = (program.sequences() + choice_.part - 1) / choice_.part;
    std::vector<LanesResult>& results = scratch_.lanes_results;
    if (results.size() < parts) results.resize(parts);
    if (scratch_.lanes_scratch.size() < parts) scratch_.lanes_scratch.resize(parts);
    std::atomic<bool> good = true;
    parallel_for(parts, threads_, [&](std::size_t i) {
      const std::size_t first = i * choice_.part;
      const std::size_t last = std::min(program.sequences(), first + choice_.part);
      if (!lanes_pass(scratch_.lanes_table, program, first, last, pace_, scratch_.lanes_scratch[i],
                      scratch_.log_likelihoods.data(), results[i]))
        good = false;
    });
    if (!good) return false;
    fold_tree(std::span(results).first(parts), [](LanesResult& a, LanesResult& b) { a += b; });
    chain_lanes(scratch_.lanes_table, program, results[0], form, scratch_.total.gradients);
    if (options_.want_initial_state) {
      scratch_.total.initial.assign(results[0].initial, results[0].initial + kLanesRows);
    } else {
      scratch_.total.initial.clear();
    }
    return true;
  }

  [[nodiscard]] ChainOptions chain_options() const {
    ChainOptions options;
    options.rescale_every = pace_;
    options.normalise = !feasible_;
    return options;
  }

  template <Form F>
  bool walk(const F& form) {
    const bool alone = options_.ranks == nullptr || careful_;
    if (alone && !run_parts(form, choice_, chain_options(), {}, threads_, scratch_)) return false;
    if (!alone && !walk_together(form)) return false;
    std::swap(scratch_.total, scratch_.sum.total());
    if (!options_.want_initial_state) scratch_.total.initial.clear();
    return true;
  }

  /// Every rank walks over its share; all of it comes together here.
  template <Form F>
  bool walk_together(const F& form) {
    Ranks& ranks = *options_.ranks;
    bool good = true;
    const RankTask task{[&](std::string_view) {
                          good = run_parts(form, choice_, chain_options(), ranks.share(), threads_,
                                           scratch_);
                          return std::string();
                        },
                        GradientReply::merge};
    const GradientRequest request{model_, options_, choice_, feasible_};
    GradientReply found(ranks.ask(kGradientTask, request.packed(), task));
    if (!good || !found.good) return false;
    found.put_likelihoods(scratch_.log_likelihoods, scratch_.log_totals);
    found.add_to(scratch_.sum);
    return true;
  }

  [[nodiscard]] ShareLikelihoods likelihoods_of(Share share) const {
    const std::size_t parts = (batch_.size() + choice_.part - 1) / choice_.part;
    const std::size_t first = std::min(batch_.size(), share.begin(parts) * choice_.part);
    const std::size_t last = std::min(batch_.size(), share.end(parts) * choice_.part);
    return {first, std::span(scratch_.log_likelihoods).subspan(first, last - first),
            std::span(scratch_.log_totals).subspan(first, last - first)};
  }

  void add_likelihoods() {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      out_.scored += scratch_.program.scored[i];
      out_.raw_log_likelihood += scratch_.log_likelihoods[i];
      out_.log_likelihood += scratch_.log_likelihoods[i] - scratch_.log_totals[i];
    }
  }

  const Hqmm& model_;
  std::span<const SequenceView> batch_;
  const GradientOptions& options_;
  bool feasible_;
  int threads_;
  GradientScratch::Contents& scratch_;
  Choice choice_;
  bool careful_ = false;
  std::size_t pace_ = 16;  // steps from one rescaling to the next
  BatchGradient out_;
};

/// A very large batch goes in rounds, so that memory does not grow with it.
std::size_t round_end(std::span<const SequenceView> batch, std::size_t begin, std::size_t part) {
  constexpr std::size_t kSymbols = std::size_t{1} << 20;
  std::size_t end = begin;
  std::size_t symbols = 0;
  while (end < batch.size() && (symbols < kSymbols || end - begin < 16 * part))
    symbols += batch[end++].size();
  return end;
}

BatchGradient naive_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                             const GradientOptions& options, int threads) {
  if (model.emits_on() == EmissionKind::kEdge)
    return reference_gradient(model, batch, options, threads);
  BatchGradient out = reference_gradient(expanded(model), batch, options, threads);
  pull_back(model, out);
  return out;
}

/// Chosen sequences of a batch, and what they count.
struct Part {
  std::vector<std::size_t> chosen;
  std::vector<SequenceView> sequences;
  std::vector<double> weights;

  void add(std::size_t i, std::span<const SequenceView> batch, const GradientOptions& options) {
    chosen.push_back(i);
    sequences.push_back(batch[i]);
    if (!options.weights.empty()) weights.push_back(options.weights[i]);
  }

  /// Their gradient by `walk`, to which it is as if there were no others.
  template <typename Walk>
  BatchGradient gradient(GradientOptions options, Walk walk) const {
    options.weights = weights;
    options.ranks = nullptr;
    try {
      return walk(std::span(sequences), options);
    } catch (const NotFiniteError& error) {
      throw NotFiniteError({chosen[error.place().sequence], error.place().position});
    }
  }
};

BatchGradient fast_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                            const GradientOptions& options, int threads, GradientScratch& scratch) {
  const bool feasible = is_feasible(model);
  const Choice choice = choose(shape_of(model, batch, feasible), options.engine);
  BatchGradient total;
  GradientOptions of_round = options;
  of_round.tangent_only = options.tangent_only && feasible;
  for (std::size_t begin = 0; begin < batch.size();) {
    const std::size_t end = round_end(batch, begin, choice.part);
    if (!options.weights.empty()) of_round.weights = options.weights.subspan(begin, end - begin);
    if (options.ranks != nullptr) of_round.numbers = options.numbers.subspan(begin, end - begin);
    FastGradient fast(model, batch.subspan(begin, end - begin), of_round, feasible, threads,
                      scratch.contents());
    try {
      if (!fast.run(choice, false) && !fast.run(choice, true)) throw NotFiniteError({0, 0});
    } catch (const NotFiniteError& error) {
      throw NotFiniteError({begin + error.place().sequence, error.place().position});
    }
    if (begin == 0) {
      total = fast.take();
    } else {
      total += fast.take();
    }
    begin = end;
  }
  return total;
}

/// Only the naive engine knows symbols that stand for several: it takes the sequences that have
/// some.
BatchGradient any_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                           const GradientOptions& options, int threads, GradientScratch& scratch) {
  const auto naive = [&](std::span<const SequenceView> some, const GradientOptions& their) {
    return naive_gradient(model, some, their, threads);
  };
  const auto fast = [&](std::span<const SequenceView> some, const GradientOptions& their) {
    return fast_gradient(model, some, their, threads, scratch);
  };
  if (batch.empty() || options.engine == EngineKind::kNaive) return naive(batch, options);
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  const auto has_sets = [s](const SequenceView& sequence) { return sequence.has_sets(s); };
  if (std::none_of(batch.begin(), batch.end(), has_sets)) return fast(batch, options);
  Part with_sets;
  Part others;
  for (std::size_t i = 0; i < batch.size(); ++i)
    (has_sets(batch[i]) ? with_sets : others).add(i, batch, options);
  BatchGradient out = with_sets.gradient(options, naive);
  if (!others.chosen.empty()) out += others.gradient(options, fast);
  return out;
}

BatchGradient gpu_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                           const GradientOptions& options) {
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  for (const SequenceView& sequence : batch)
    if (sequence.has_sets(s)) throw gpu_knows_no("symbols that stand for several");
  return options.gpu->gradient(model, batch, options);
}

}  // namespace

BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                       const GradientOptions& options, int threads, GradientScratch& scratch) {
  assert(options.weights.empty() || options.weights.size() == batch.size());
  BatchGradient out = options.gpu != nullptr && !batch.empty()
                          ? gpu_gradient(model, batch, options)
                          : any_gradient(model, batch, options, threads, scratch);
  if (model.field == Field::kComplex) return out;
  for (Stack& by : out.sets) by.imag().setZero();
  out.initial_state.imag().setZero();
  return out;
}

BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                       const GradientOptions& options, int threads) {
  GradientScratch scratch;
  return gradient(model, batch, options, threads, scratch);
}

RankTask gradient_task(std::function<SequenceView(std::uint32_t)> sequence, Share share,
                       int threads) {
  RankTask out;
  const auto scratch = std::make_shared<GradientScratch>();
  out.work = [sequence = std::move(sequence), share, threads, scratch](std::string_view packed) {
    const UnpackedGradientRequest request(packed);
    std::vector<SequenceView> batch;
    for (const std::uint32_t number : request.numbers) batch.push_back(sequence(number));
    FastGradient fast(request.model, batch, request.options, request.feasible, threads,
                      scratch->contents());
    return fast.run_share(request.choice, share);
  };
  out.merge = GradientReply::merge;
  return out;
}

}  // namespace hqmm::detail
