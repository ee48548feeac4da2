#include "hqmm/engine/quantum/hqmm_forward.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/chain/chain.hpp"
#include "hqmm/engine/cuda/cuda_engine.hpp"
#include "hqmm/engine/elsewhere.hpp"
#include "hqmm/engine/long_sequence.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/forms.hpp"
#include "hqmm/engine/quantum/hqmm_program.hpp"
#include "hqmm/engine/quantum/long_hqmm.hpp"
#include "hqmm/engine/scratch_pool.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {
namespace {

/// Programs are written for so many symbols at a time; longer sequences go in slices.
constexpr std::size_t kSliceSymbols = std::size_t{1} << 20;

/// A few sequences, or a slice of a long one, in the form that suits them.
class ForwardPass {
 public:
  ForwardPass(const Hqmm& model, bool feasible, int threads, Share share)
      : model_(model), feasible_(feasible), threads_(threads), share_(share) {}

  /// The results of the sequences of the last run. The number of a suspect is not reliable.
  std::vector<double> log_likelihoods, log_totals;
  std::vector<char> suspects;
  [[nodiscard]] std::uint64_t scored(std::size_t i) const { return program_.scored[i]; }
  /// Whether that sequence of the last batch was in the share.
  [[nodiscard]] bool has(std::size_t i) const { return i >= first_ && i < last_; }

  void run(std::span<const SequenceView> batch, std::size_t burn_in) {
    share_here_ = batch.size() > 1 ? share_ : Share{};
    BatchShape shape = shape_of(model_, batch, feasible_);
    shape.backward = false;
    choice_ = choose(shape, EngineKind::kAuto);
    carried_.clear();
    walk_batch(batch, burn_in);
  }

  /// The next slice of the sequence that run() began with its first.
  void run_on(const SequenceView& slice, std::size_t burn_in) { walk_batch({&slice, 1}, burn_in); }

 private:
  void walk_batch(std::span<const SequenceView> batch, std::size_t burn_in) {
    GradientOptions options;
    options.burn_in = burn_in;
    write_program(model_, batch, options, choice_.word_length, threads_, program_);
    log_likelihoods.assign(batch.size(), 0.0);
    log_totals.assign(batch.size(), 0.0);
    suspects.assign(batch.size(), 0);
    forms_.with_form(choice_, {model_, program_, feasible_, threads_},
                     [&](auto& form) { walk(form); });
  }

  template <Form F>
  void walk(F& form) {
    if (!carried_.empty()) std::copy(carried_.begin(), carried_.end(), form.initial());
    const std::size_t parts = (program_.sequences() + choice_.part - 1) / choice_.part;
    const std::size_t begin = share_here_.begin(parts);
    const std::size_t end = share_here_.end(parts);
    first_ = begin * choice_.part;
    last_ = std::min(program_.sequences(), end * choice_.part);
    parallel_for(end - begin, threads_, [&](std::size_t i) { walk_part(form, begin + i); });
  }

  template <Form F>
  void walk_part(const F& form, std::size_t part) {
    const std::size_t first = part * choice_.part;
    const std::size_t last = std::min(program_.sequences(), first + choice_.part);
    ChainOptions options;
    options.rescale_every = 16 / static_cast<std::size_t>(choice_.word_length);
    options.backward = false;
    options.normalise = !feasible_;
    options.suspect_below = kSuspectWeight;
    ChainResult result;
    result.log_likelihoods = log_likelihoods;
    result.log_totals = log_totals;
    result.suspects = suspects;
    ScratchPool<ChainScratch>::Loan loan(pool_);
    ChainPass<F> pass(form, program_, first, last, options, loan.scratch(), result);
    if (!pass.run()) std::fill(&suspects[first], &suspects[first] + (last - first), 1);
    if (program_.sequences() == 1 && program_.length(0) > 0)
      carry(form, loan.scratch().last.data());
  }

  /// The state after the last symbol, of weight one.
  template <Form F>
  void carry(const F& form, const double* x) {
    const double weight = form.weight(x);
    const double scale = 1.0 / (F::kDegree == 1 ? weight : std::sqrt(weight));
    carried_.assign(x, x + form.state_size());
    for (double& value : carried_) value *= scale;
  }

  const Hqmm& model_;
  bool feasible_;
  int threads_;
  Share share_, share_here_;
  std::size_t first_ = 0, last_ = 0;  // of the batch: what is in the share
  Choice choice_;
  Program program_;
  Forms forms_;
  ScratchPool<ChainScratch> pool_;
  std::vector<double> carried_;
};

class SetPass {
 public:
  SetPass(const Hqmm& model, const SequenceSet& set, std::size_t burn_in, int threads, Share share,
          CudaEngine* gpu)
      : model_(model),
        set_(set),
        burn_in_(burn_in),
        threads_(threads),
        share_(share),
        gpu_(gpu),
        feasible_(is_feasible(model)),
        pass_(model, feasible_, threads, share) {}

  void run(const LikelihoodSink& sink) {
    for (std::size_t i = 0; i < set_.size();) {
      first_ = i;
      const std::size_t end = is_long(i) ? i + 1 : end_of_batch(i);
      out_.assign(end - i, {});
      asked_.clear();
      if (end == i + 1) {
        // Alone it is one rank's business, each in its turn.
        if (alone_++ % share_.of != share_.index) {
          out_.front().scored = kElsewhere;
        } else if (is_long(i)) {
          run_long(i);
        } else {
          run_batch(i, end);
        }
      } else {
        run_batch(i, end);
      }
      ask_filter();
      sink(first_, out_);
      i = end;
    }
  }

 private:
  /// Such a sequence is a batch of its own.
  [[nodiscard]] bool is_long(std::size_t i) const {
    return gpu_ == nullptr && model_.positions.stationary() && set_[i].size() >= kLongSequence;
  }

  [[nodiscard]] std::size_t end_of_batch(std::size_t begin) const {
    std::size_t end = begin;
    std::size_t symbols = 0;
    while (end < set_.size() && !is_long(end) &&
           (end == begin || symbols + set_[end].size() <= kSliceSymbols))
      symbols += set_[end++].size();
    return end;
  }

  void run_batch(std::size_t begin, std::size_t end) {
    std::vector<SequenceView> batch;
    batch.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) batch.push_back(set_[i]);
    if (gpu_ != nullptr) return run_on_gpu(batch);
    pass_.run(batch, burn_in_);
    for (std::size_t i = begin; i < end; ++i) {
      if (pass_.has(i - begin)) {
        add(i, i - begin);
      } else {
        out_[i - first_].scored = kElsewhere;
      }
    }
  }

  /// A likelihood that the GPU cannot tell is the filter's to find. One sequence that cannot be
  /// walked fails those beside it: they go again, in halves.
  void run_on_gpu(std::span<const SequenceView> batch, std::size_t offset = 0) {
    std::vector<double> found;
    try {
      found = gpu_->log_likelihoods(model_, batch, burn_in_);
    } catch (const NotFiniteError&) {
      const std::size_t half = batch.size() / 2;
      if (half == 0) return asked_.push_back(first_ + offset);
      run_on_gpu(batch.first(half), offset);
      return run_on_gpu(batch.subspan(half), offset + half);
    }
    for (std::size_t k = 0; k < batch.size(); ++k) {
      if (!std::isfinite(found[k])) {
        asked_.push_back(first_ + offset + k);
        continue;
      }
      SequenceLikelihood& out = out_[offset + k];
      for (std::size_t t = burn_in_; t < batch[k].size(); ++t)
        out.scored += batch[k][t] != kMissing ? 1 : 0;
      out.log_likelihood = out.raw_log_likelihood = found[k];
    }
  }

  void run_long(std::size_t i) {
    const SequenceView sequence = set_[i];
    if (feasible_) {
      if (auto found = long_hqmm_log_likelihood(model_, sequence, burn_in_, threads_)) {
        out_.front() = *found;
        return;
      }
    }
    for (std::size_t begin = 0; begin < sequence.size(); begin += kSliceSymbols) {
      const SequenceView slice =
          sequence.part(begin, std::min(kSliceSymbols, sequence.size() - begin));
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
    SequenceLikelihood& out = out_[i - first_];
    out.scored += pass_.scored(at);
    out.raw_log_likelihood += pass_.log_likelihoods[at];
    out.log_likelihood += pass_.log_likelihoods[at] - pass_.log_totals[at];
  }

  void ask_filter() {
    parallel_for(asked_.size(), threads_, [&](std::size_t k) {
      HqmmFilter filter(model_);
      out_[asked_[k] - first_] = log_likelihood(filter, set_[asked_[k]], burn_in_);
    });
  }

  const Hqmm& model_;
  const SequenceSet& set_;
  std::size_t burn_in_;
  int threads_;
  Share share_;
  CudaEngine* gpu_;
  bool feasible_;
  ForwardPass pass_;
  std::size_t alone_ = 0;  // sequences that were a batch of their own
  // Of the batch at hand:
  std::size_t first_ = 0;
  std::vector<SequenceLikelihood> out_;
  std::vector<std::size_t> asked_;  // sequences for the filter
};

}  // namespace

std::vector<SequenceLikelihood> hqmm_log_likelihoods(const Hqmm& model, const SequenceSet& set,
                                                     std::size_t burn_in, int threads, Share share,
                                                     CudaEngine* gpu) {
  std::vector<SequenceLikelihood> out;
  out.reserve(set.size());
  const auto take = [&out](std::size_t, auto found) {
    out.insert(out.end(), found.begin(), found.end());
  };
  hqmm_log_likelihoods(model, set, burn_in, threads, take, share, gpu);
  return out;
}

void hqmm_log_likelihoods(const Hqmm& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink, Share share, CudaEngine* gpu) {
  SetPass(model, set, burn_in, threads, share, gpu).run(sink);
}

}  // namespace hqmm::detail
