#include "hqmm/learn/start.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"

namespace hqmm::detail {
namespace {

Matrix initial_state(const TrainOptions& options, std::size_t restart) {
  RandomStream random(options.seed, Purpose::kInitialState, restart);
  switch (options.initial_state) {
    case InitialStateKind::kRandom:
      return random_density_matrix(options.latent_dim, random, options.field);
    case InitialStateKind::kPure:
      return random_pure_state(options.latent_dim, random, options.field);
    case InitialStateKind::kUniform:
    case InitialStateKind::kLearned:
      break;
  }
  return maximally_mixed(options.latent_dim);
}

/// On Γ, or V: of an HMM's C the noise would only blur what EM found.
void add_noise(KrausSet& set, double amount, Field field, RandomStream& random) {
  if (amount == 0.0) return;
  for (Index k = 0; k < set.stack().size(); ++k) {
    const double re = random.normal();
    set.stack().data()[k] += amount * Complex(re, field == Field::kReal ? 0.0 : random.normal());
  }
  Retraction onto = retract(set.stack());
  if (!onto.converged) throw fail(ErrorCode::kInternal, "noise made a warm start rank deficient");
  set.stack() = std::move(onto.gamma);
}

/// A pure initial state promises a state of rank one, the kept candidate's too.
void require_pure(const Matrix& rho) {
  const double purity = rho.squaredNorm();  // tr ρ²
  if (purity > 1.0 - 1e-9) return;
  throw fail(ErrorCode::kUsage,
             "the warm start's initial state is mixed (tr ρ² = {:.6g}): use {} instead of pure",
             purity, option("initial_state", "learned"));
}

struct Embeddings {
  Hqmm cyclic, rank_one;
};

template <typename Model>
void require_rank_of(const Model& hmm, const TrainOptions& options) {
  if (options.kraus_rank != hmm.latent_dim()) {
    throw fail(ErrorCode::kUsage, "a warm start from an HMM of {} states needs {}, not {}",
               hmm.latent_dim(), option("kraus_rank", hmm.latent_dim()), options.kraus_rank);
  }
}

Start warm_hqmm(const Embeddings& embedding, const TrainOptions& options, std::size_t restart) {
  Hqmm model = embedding.cyclic;
  Hqmm keep = embedding.rank_one;
  model.field = keep.field = options.field;
  RandomStream random(options.seed, Purpose::kNoise, restart);
  for (KrausSet& set : model.sets) add_noise(set, options.warm_noise, options.field, random);
  return {std::move(model), AnyModel(std::move(keep))};
}

/// The embeddings of an HMM that a run with these options can start from.
Embeddings embeddings_of(const Hmm& hmm, const TrainOptions& options) {
  return {embed_cyclic(hmm, options.emission), embed_rank_one(hmm, options.emission)};
}
Embeddings embeddings_of(const EdgeHmm& hmm, const TrainOptions& options) {
  if (options.emission == EmissionKind::kState)
    throw fail(ErrorCode::kUsage, "the warm start emits on its edges: use {}",
               option("emission", "edge"));
  return {embed_cyclic(hmm), embed_rank_one(hmm)};
}

/// EM continues from a model of its type, and EM on edges from an HMM of either type.
AnyModel warm_hmm(const AnyModel& from, const TrainOptions& options) {
  const auto* hmm = std::get_if<Hmm>(&from);
  const auto* edge = std::get_if<EdgeHmm>(&from);
  if (options.emission == EmissionKind::kEdge) {
    if (edge != nullptr) return *edge;
    if (hmm != nullptr) return as_edge_hmm(*hmm);
  }
  if (hmm != nullptr) return *hmm;
  if (edge != nullptr)
    throw fail(ErrorCode::kUsage, "the warm start emits on its edges: add {}",
               option("emission", "edge"));
  throw fail(ErrorCode::kUsage, "em learns HMMs; the warm start is an HQMM");
}

}  // namespace

AnyModel random_start(const TrainOptions& options, const Alphabet& alphabet, std::size_t restart) {
  RandomStream random(options.seed, Purpose::kInitialModel, restart);
  if (options.learner == LearnerKind::kEm) {
    if (options.emission == EmissionKind::kEdge)
      return random_edge_hmm(alphabet, options.latent_dim, random);
    return random_hmm(alphabet, options.latent_dim, random);
  }
  const auto make = options.emission == EmissionKind::kState ? random_state_kraus : random_kraus;
  KrausSet set = make(static_cast<Index>(alphabet.size()), options.kraus_rank, options.latent_dim,
                      random, options.field);
  return stationary_hqmm(alphabet, std::move(set), initial_state(options, restart), options.field);
}

Start warm_start(const AnyModel& from, const TrainOptions& options, const Alphabet& alphabet,
                 std::size_t restart) {
  if (!(alphabet_of(from) == alphabet)) {
    throw fail(ErrorCode::kUsage, "the warm start's alphabet ({}) is not the data's ({})",
               alphabet_of(from).description(), alphabet.description());
  }
  const Index n = std::visit([](const auto& m) { return m.latent_dim(); }, from);
  if (n != options.latent_dim) {
    throw fail(ErrorCode::kUsage, "the warm start has n = {}, the run n = {}", n,
               options.latent_dim);
  }
  if (options.learner == LearnerKind::kEm) {
    const AnyModel model = warm_hmm(from, options);
    return {model, model};
  }
  const bool pure = options.initial_state == InitialStateKind::kPure;
  const auto* hmm = std::get_if<Hmm>(&from);
  const auto* edge = std::get_if<EdgeHmm>(&from);
  if (hmm != nullptr || edge != nullptr) {
    const auto warm = [&](const auto& model) {
      require_rank_of(model, options);
      return warm_hqmm(embeddings_of(model, options), options, restart);
    };
    Start start = hmm != nullptr ? warm(*hmm) : warm(*edge);
    if (pure) require_pure(std::get<Hqmm>(start.model).initial_state);
    return start;
  }
  const auto& hqmm = std::get<Hqmm>(from);
  if (pure) require_pure(hqmm.initial_state);
  if (hqmm.kraus_rank() != options.kraus_rank) {
    throw fail(ErrorCode::kUsage, "the warm start has w = {}, the run w = {}", hqmm.kraus_rank(),
               options.kraus_rank);
  }
  if (hqmm.field != options.field || hqmm.emits_on() != options.emission) {
    throw fail(ErrorCode::kUsage, "the warm start needs {} and {}",
               option("field", name_of(hqmm.field)), option("emission", name_of(hqmm.emits_on())));
  }
  return {hqmm, AnyModel(hqmm)};
}

}  // namespace hqmm::detail
