#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/engine/device.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "hqmm/learn/joint_descent.hpp"
#include "hqmm/learn/option_table.hpp"
#include "hqmm/learn/position_start.hpp"
#include "hqmm/learn/recipes.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/mixture.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/model/smoothing.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kValidationShare = 0.2;
constexpr double kPriorTolerance = 1e-9;

/// Stationary models that know nothing of each other are what train() is for.
bool by_trainer(const ClassifierOptions& options) {
  return options.objective == ObjectiveKind::kGenerative &&
         options.positions.kind == PositionPlan::Kind::kStationary;
}

/// Sequences of known classes, the classes numbered in the order of their names.
struct Labelled {
  std::vector<std::string> classes;
  std::vector<std::uint32_t> labels;
  std::vector<std::vector<std::uint32_t>> members;  // sequences, by class
};

Labelled by_class(const SequenceSet& data) {
  require_labelled(data);
  OrderedClasses ordered = ordered_classes(data);
  Labelled out;
  out.members.resize(ordered.names.size());
  for (std::uint32_t i = 0; i < data.size(); ++i) out.members[ordered.labels[i]].push_back(i);
  out.classes = std::move(ordered.names);
  out.labels = std::move(ordered.labels);
  return out;
}

void require_symbols(const SequenceSet& data) {
  const std::size_t size = data.alphabet().size();
  const SymbolBlock& symbols = data.symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] < size || data.alphabet().knows(symbols[i])) continue;
    throw fail(ErrorCode::kBadData, "training symbol {} is beyond the alphabet of {}", symbols[i],
               size);
  }
  if (data.longest() == 0) throw fail(ErrorCode::kBadData, "all sequences are empty");
}

std::vector<double> priors_of(const Labelled& labelled, const ClassifierOptions& options) {
  std::vector<std::size_t> counts;
  for (const std::vector<std::uint32_t>& rows : labelled.members) counts.push_back(rows.size());
  return class_priors(options.prior, options.given_priors, counts);
}

/// What sequences of each class count so that the classes come as often as their priors say.
std::vector<double> weights_of(const Labelled& labelled, const std::vector<double>& priors) {
  std::vector<double> out;
  for (std::size_t c = 0; c < priors.size(); ++c) {
    out.push_back(priors[c] * static_cast<double>(labelled.labels.size()) /
                  static_cast<double>(labelled.members[c].size()));
  }
  return out;
}

class ClassifierFit {
 public:
  ClassifierFit(const SequenceSet& data, const ClassifierOptions& options,
                const ClassifierHooks& hooks)
      : data_(data), options_(options), hooks_(hooks), labelled_(by_class(data)) {
    require_symbols(data);
  }

  Classifier run() {
    Classifier out;
    out.classes = labelled_.classes;
    out.priors = priors_of(labelled_, options_);
    std::vector<std::vector<AnyModel>> by_member;
    for (std::size_t member = 0; member < options_.members; ++member)
      by_member.push_back(fit_member(member, out));
    for (std::size_t c = 0; c < out.classes.size(); ++c) {
      std::vector<AnyModel> members;
      members.reserve(by_member.size());
      for (std::vector<AnyModel>& models : by_member) members.push_back(std::move(models[c]));
      out.models.push_back(combine(std::move(members)));
    }
    return out;
  }

 private:
  /// The models of a member, by class, unless they were learned before. `like` has the classes.
  std::vector<AnyModel> fit_member(std::size_t member, const Classifier& like) {
    if (hooks_.find_member) {
      std::optional<Classifier> found = hooks_.find_member(member);
      if (found && found->classes == like.classes) return std::move(found->models);
    }
    Classifier out = like;
    out.models = by_trainer(options_) ? fit_separately(member) : fit_jointly(member, like.priors);
    if (hooks_.keep_member) hooks_.keep_member(member, out);
    return std::move(out.models);
  }

  [[nodiscard]] std::vector<SequenceView> sequences_of(std::size_t c) const {
    std::vector<SequenceView> out;
    for (const std::uint32_t i : labelled_.members[c]) out.push_back(data_[i]);
    return out;
  }

  [[nodiscard]] PositionMap positions() const {
    if (options_.positions.kind == PositionPlan::Kind::kStationary) return {};
    const auto anchor =
        options_.positions.from_end ? PositionMap::Anchor::kEnd : PositionMap::Anchor::kStart;
    return PositionMap(options_.positions.sets(data_.longest()), anchor);
  }

  [[nodiscard]] Hqmm start_of(std::size_t c, std::size_t member) const {
    const TrainOptions& train = options_.train;
    Hqmm out;
    out.alphabet = data_.alphabet();
    out.positions = positions();
    const std::size_t sets = out.positions.set_count();
    const RealMatrix frequencies = position_frequencies(
        sequences_of(c), out.positions, sets, data_.alphabet().size(), options_.pseudo_count);
    const std::size_t index = member * labelled_.classes.size() + c;
    for (std::size_t set = 0; set < sets; ++set) {
      RandomStream random(train.seed, Purpose::kNoise, index, set);
      const RealVector seen = frequencies.row(static_cast<Index>(set));
      out.sets.push_back(kraus_of_frequencies(
          seen, {train.latent_dim, seen.size(), train.kraus_rank, train.field, train.emission},
          options_.start_noise, random));
    }
    out.field = train.field;
    RandomStream random(train.seed, Purpose::kInitialState, index);
    out.initial_state = train.initial_state == InitialStateKind::kRandom
                            ? random_density_matrix(train.latent_dim, random, train.field)
                            : maximally_mixed(train.latent_dim);
    return out;
  }

  std::vector<AnyModel> fit_jointly(std::size_t member, const std::vector<double>& priors) {
    const JointData data{data_, labelled_.labels, priors, weights_of(labelled_, priors)};
    std::vector<Hqmm> start;
    for (std::size_t c = 0; c < priors.size(); ++c) start.push_back(start_of(c, member));
    if (!gpu_) gpu_ = open_device(options_.train.device, options_.train.memory);
    JointDescent descent(std::move(start), data, options_, member, gpu_.get());
    std::size_t done = 0;
    bool over = false;
    const auto run_phase = [&](std::size_t epochs, JointObjective::Kind kind) {
      TrainOptions schedule = options_.train;
      schedule.epochs = epochs;
      for (std::size_t epoch = 0; epoch < epochs && !over; ++epoch) {
        const double objective = descent.run_epoch(
            done, {step_size_at(schedule, epoch), emission_step_at(schedule, epoch)}, kind,
            hooks_.stop_requested);
        ++done;
        over = tell(member, done, objective);
      }
    };
    if (options_.objective == ObjectiveKind::kHybrid)
      run_phase(options_.generative_epochs, JointObjective::Kind::kGenerative);
    run_phase(options_.train.epochs, options_.objective == ObjectiveKind::kGenerative
                                         ? JointObjective::Kind::kGenerative
                                         : JointObjective::Kind::kDiscriminative);
    std::vector<AnyModel> out;
    for (const Hqmm& model : descent.models())
      out.emplace_back(with_fewest_operators(smoothed(model, options_.smoothing)));
    return out;
  }

  /// True when that is enough.
  [[nodiscard]] bool tell(std::size_t member, std::size_t epoch, double objective) const {
    if (hooks_.on_epoch) hooks_.on_epoch(member, epoch, objective);
    return hooks_.enough && hooks_.enough();
  }

  std::vector<AnyModel> fit_separately(std::size_t member) {
    std::vector<AnyModel> out;
    for (std::size_t c = 0; c < labelled_.classes.size(); ++c) {
      try {
        out.push_back(fit_one(c, member));
      } catch (const Error& error) {
        throw fail(error.code(), "class '{}': {}", printable(labelled_.classes[c]), error.marked());
      }
    }
    return out;
  }

  AnyModel fit_one(std::size_t c, std::size_t member) {
    TrainOptions train_options = options_.train;
    train_options.seed += member;
    const ValidationSplit split =
        split_validation(data_.subset(labelled_.members[c]), kValidationShare, train_options.seed);
    bool over = false;
    std::size_t told = 0;  // the last epoch
    TrainHooks hooks;
    hooks.stop_requested = [&] {
      return over || (hooks_.stop_requested && hooks_.stop_requested());
    };
    hooks.on_epoch = [&](const EpochRecord& record) {
      // restarts go side by side: the first that is under way speaks for all
      if (!record.train || record.train->symbols == 0 || record.epoch <= told) return;
      told = record.epoch;
      over = tell(member, record.epoch,
                  record.train->log_likelihood / static_cast<double>(split.train.size()));
    };
    const TrainResult result = train(split.train, split.validation, train_options, hooks);
    if (result.status == TrainStatus::kInterrupted && !over)
      throw fail(ErrorCode::kInterrupted, "interrupted");
    if (result.status == TrainStatus::kDiverged)
      throw fail(ErrorCode::kDiverged, "{}", result.message);
    if (const Hmm* hmm = std::get_if<Hmm>(&result.model)) return smoothed(*hmm, options_.smoothing);
    if (const EdgeHmm* edge = std::get_if<EdgeHmm>(&result.model))
      return smoothed(*edge, options_.smoothing);
    return with_fewest_operators(smoothed(std::get<Hqmm>(result.model), options_.smoothing));
  }

  /// One model of the members: all count the same.
  [[nodiscard]] static AnyModel combine(std::vector<AnyModel> members) {
    if (members.size() == 1) return std::move(members.front());
    std::vector<Hqmm> parts;
    for (AnyModel& member : members) {
      if (const Hmm* hmm = std::get_if<Hmm>(&member)) {
        parts.push_back(embed_rank_one(*hmm));
      } else if (const EdgeHmm* edge = std::get_if<EdgeHmm>(&member)) {
        parts.push_back(embed_rank_one(*edge));
      } else {
        parts.push_back(std::get<Hqmm>(std::move(member)));
      }
    }
    return mixture(parts,
                   std::vector<double>(parts.size(), 1.0 / static_cast<double>(parts.size())));
  }

  const SequenceSet& data_;
  const ClassifierOptions& options_;
  const ClassifierHooks& hooks_;
  Labelled labelled_;
  std::unique_ptr<CudaEngine> gpu_;  // none on the CPU
};

void require_joint(const TrainOptions& train) {
  const auto refuse = [](std::string_view what) {
    throw fail(ErrorCode::kUsage, "position-dependent and discriminative models {}", what);
  };
  if (train.learner != LearnerKind::kNsRis)
    refuse(fmt::format("are learned by ns-ris, not by {}", name_of(train.learner)));
  if (train.retraction != RetractionKind::kFeasible) refuse("need the feasible retraction");
  if (train.initial_state == InitialStateKind::kLearned ||
      train.initial_state == InitialStateKind::kPure)
    refuse("start at a fixed initial state, uniform or random");
  if (train.burn_in.value_or(0) > 0 || train.chunk_length.value_or(0) > 0)
    refuse("are learned from whole sequences, without chunks or a burn-in");
}

void require_priors(const std::vector<double>& priors) {
  const bool positive =
      std::all_of(priors.begin(), priors.end(), [](double prior) { return prior > 0.0; });
  const double sum = std::accumulate(priors.begin(), priors.end(), 0.0);
  if (!positive || !(std::abs(sum - 1.0) <= kPriorTolerance))
    throw fail(ErrorCode::kUsage, "priors must be positive and add up to 1 (they give {})", sum);
}

}  // namespace

TrainOptions joint_train_options() {
  TrainOptions options;
  options.epochs = 20;
  options.batch_size = 200;
  options.step_size = 0.02;
  options.emission_step = 0.02;
  return options;
}

void require_usable(const ClassifierOptions& options) {
  require_usable(options.train);
  require_in_range(classifier_option_table(), options);
  if (options.prior == PriorKind::kGiven) require_priors(options.given_priors);
  if (!by_trainer(options)) require_joint(options.train);
  if (options.members > 1 && options.train.retraction == RetractionKind::kLiteral)
    throw fail(ErrorCode::kUsage, "only feasible models can be mixed into one");
}

Classifier fit_classifier(const SequenceSet& data, const ClassifierOptions& options,
                          const ClassifierHooks& hooks) {
  require_usable(options);
  return ClassifierFit(data, options, hooks).run();
}

}  // namespace hqmm
