#include "hqmm/learn/joint_descent.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/learn/rules.hpp"

namespace hqmm::detail {
namespace {

/// Streams are indexed by (epoch, member and sequence).
std::uint64_t stream_of(std::size_t member, std::size_t sequence) {
  return (std::uint64_t{member} << 40) + sequence;
}

}  // namespace

JointDescent::JointDescent(std::vector<Hqmm> start, const JointData& data,
                           const ClassifierOptions& options, std::size_t member)
    : models_(std::move(start)),
      data_(data),
      batch_size_(options.train.batch_size),
      dropout_(options.dropout),
      seed_(options.train.seed),
      member_(member),
      threads_(options.train.threads),
      objective_(data.priors, data.weights, options.smoothing, options.train.engine,
                 options.train.threads) {
  for (std::size_t c = 0; c < models_.size(); ++c)
    rules_.push_back(make_scaled_momentum(options.train.momentum, options.second_moment));
}

SequenceSet JointDescent::draw_batch(std::span<const std::uint32_t> chosen, std::size_t epoch,
                                     double dropout) const {
  SequenceSet out(data_.sequences.alphabet());
  for (const std::uint32_t i : chosen) {
    RandomStream random(seed_, Purpose::kDropout, epoch, stream_of(member_, i));
    const SequenceView sequence = data_.sequences[i];
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const bool dropped = dropout > 0.0 && random.uniform() < dropout;
      out.push_back(dropped ? kMissing : sequence[t]);
    }
    out.end_sequence();
    if (data_.sequences.weighted()) out.weigh_last(data_.sequences.weight(i));
  }
  return out;
}

double JointDescent::step(std::span<const std::uint32_t> chosen, std::size_t epoch,
                          const JointSteps& steps, JointObjective::Kind kind) {
  const double dropout = kind == JointObjective::Kind::kDiscriminative ? dropout_ : 0.0;
  const SequenceSet batch = draw_batch(chosen, epoch, dropout);
  std::vector<std::uint32_t> labels;
  for (const std::uint32_t i : chosen) labels.push_back(data_.labels[i]);
  JointGradient found;
  try {
    found = objective_.gradient(models_, batch, labels, kind);
  } catch (const NotFiniteError& error) {
    throw fail(ErrorCode::kDiverged,
               "training diverged: symbol {} of sequence {} got "
               "probability 0 (smoothing above 0 prevents that)",
               error.place().position + 1, chosen[error.place().sequence] + 1);
  }
  const double scale = 1.0 / static_cast<double>(chosen.size());
  parallel_for(models_.size(), threads_, [&](std::size_t c) {
    for (std::size_t set = 0; set < models_[c].sets.size(); ++set) {
      Stack& mean = found.sets[c][set];
      mean *= scale;
      rules_[c]->update(set, models_[c].sets[set].stack(), mean, steps.size);
    }
    for (std::size_t set = 0; set < found.emissions[c].size(); ++set) {
      RealMatrix& emission = models_[c].sets[set].emission();
      Stack columns = emission.cast<Complex>();
      const Stack mean = scale * found.emissions[c][set].cast<Complex>();
      rules_[c]->update_columns(models_[c].sets.size() + set, columns, mean, steps.of_emission);
      emission = columns.real();
    }
  });
  return found.objective;
}

double JointDescent::run_epoch(std::size_t epoch, const JointSteps& steps,
                               JointObjective::Kind kind, const StopRequest& stop) {
  RandomStream random(seed_, Purpose::kShuffle, member_, epoch);
  const std::vector<std::uint32_t> order = permutation(data_.sequences.size(), random);
  double objective = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += batch_size_) {
    if (stop && stop()) throw fail(ErrorCode::kInterrupted, "interrupted");
    const std::size_t size = std::min(batch_size_, order.size() - begin);
    objective += step({order.data() + begin, size}, epoch, steps, kind);
  }
  return objective / static_cast<double>(order.size());
}

}  // namespace hqmm::detail
