#include "hqmm/model/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {

template <typename Filter>
SequenceLikelihood log_likelihood(Filter& filter, const SequenceView& sequence,
                                  std::size_t burn_in) {
  SequenceLikelihood out;
  filter.restart(sequence.size());
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    check_interruption(t);
    const Symbol symbol = sequence[t];
    const StepWeight weight = filter.step(symbol);
    if (t < burn_in || symbol == kMissing) continue;
    ++out.scored;
    if (weight.raw <= 0.0 && !out.impossible_at) out.impossible_at = t;
    const double log_raw = std::log(weight.raw);
    out.raw_log_likelihood += log_raw;
    out.log_likelihood += weight.total == 1.0 ? log_raw : log_raw - std::log(weight.total);
  }
  return out;
}

template SequenceLikelihood log_likelihood(HmmFilter&, const SequenceView&, std::size_t);
template SequenceLikelihood log_likelihood(EdgeHmmFilter&, const SequenceView&, std::size_t);
template SequenceLikelihood log_likelihood(HqmmFilter&, const SequenceView&, std::size_t);

namespace {

void require_same_alphabet(const Alphabet& model, const Alphabet& data) {
  const bool same =
      model == data || (data.kind() == Alphabet::Kind::kIntegers &&
                        model.kind() == Alphabet::Kind::kIntegers && data.size() <= model.size());
  if (!same) {
    throw fail(ErrorCode::kBadData, "the data's alphabet ({}) is not the model's ({})",
               data.description(), model.description());
  }
}

/// A set that was not read but built by hand may hold anything.
void require_known_symbols(const Alphabet& data, std::size_t alphabet_size,
                           const SequenceView& sequence, std::size_t index) {
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const Symbol symbol = sequence[t];
    if (symbol < alphabet_size || data.knows(symbol)) continue;
    throw fail(ErrorCode::kBadData, "symbol {} of sequence {} is {}, the model has 0..{}", t, index,
               symbol, alphabet_size - 1);
  }
}

}  // namespace

void require_fitting_alphabet(const AnyModel& model, const SequenceSet& set) {
  require_same_alphabet(alphabet_of(model), set.alphabet());
}

void require_fitting(const AnyModel& model, const SequenceSet& set) {
  require_fitting_alphabet(model, set);
  for (std::size_t i = 0; i < set.size(); ++i)
    require_known_symbols(set.alphabet(), alphabet_of(model).size(), set[i], i);
}

}  // namespace hqmm::detail

namespace hqmm {
using namespace detail;

std::vector<SequenceLikelihood> log_likelihoods(const AnyModel& model, const SequenceSet& set,
                                                std::size_t burn_in, int threads) {
  require_fitting(model, set);
  // Sequences go out in blocks so that a filter's set-up is shared; the block size is fixed, and
  // each sequence's number does not depend on its block.
  constexpr std::size_t kBlock = 16;
  std::vector<SequenceLikelihood> out(set.size());
  const std::size_t blocks = (set.size() + kBlock - 1) / kBlock;
  parallel_for(blocks, threads, [&](std::size_t block) {
    std::visit(
        [&](const auto& m) {
          auto filter = make_filter(m);
          const std::size_t end = std::min(set.size(), (block + 1) * kBlock);
          for (std::size_t i = block * kBlock; i < end; ++i) {
            out[i] = log_likelihood(filter, set[i], burn_in);
          }
        },
        model);
  });
  return out;
}

std::optional<double> description_accuracy(double log_likelihood, std::uint64_t scored,
                                           std::size_t alphabet_size) {
  if (scored == 0 || alphabet_size < 2) return {};
  const double x = 1.0 + log_likelihood / (static_cast<double>(scored) *
                                           std::log(static_cast<double>(alphabet_size)));
  return x > 0.0 ? x : std::tanh(x / 8.0);
}

}  // namespace hqmm
