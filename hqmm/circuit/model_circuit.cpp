#include "hqmm/circuit/model_circuit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "hqmm/circuit/multiplexed.hpp"
#include "hqmm/circuit/shannon.hpp"
#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/model/embedding.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kDefaultSteps = 10;
constexpr std::size_t kMostSteps = 100'000;
constexpr double kNoWeight = 1e-13;  // of an eigenvector of the initial state

/// Qubits for `count` basis states.
int qubits_for(Index count) { return std::bit_width(static_cast<std::size_t>(count - 1)); }

std::vector<int> range(int first, int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), first);
  return out;
}

int system_qubits_of(Index n) { return std::max(1, qubits_for(n)); }

/// Operators in the stack of a step's isometry.
Index branches_of(const KrausSet& set) { return set.stack().rows() / set.latent_dim(); }

Hqmm as_hqmm(const AnyModel& model) {
  if (const auto* hmm = std::get_if<Hmm>(&model)) return embed_rank_one(*hmm, EmissionKind::kState);
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) return embed_rank_one(*hmm);
  return std::get<Hqmm>(model);
}

void require_feasible(const Hqmm& model) {
  if (is_feasible(model)) return;
  throw fail(
      ErrorCode::kBadData,
      "not trace preserving (residual {:.3g}, at most {:.0e} allowed): only a trace-preserving "
      "model is a circuit; train it with a feasible retraction",
      feasibility_residual(model), kFeasibleTolerance);
}

void require_small(const Hqmm& model) {
  const KrausSet& set = model.sets.front();
  const int system = system_qubits_of(model.latent_dim());
  int needed = system + qubits_for(branches_of(set));
  if (set.emits_on() == EmissionKind::kState)
    needed = std::max(needed, system + qubits_for(set.alphabet_size()));
  if (needed <= kMostUnitaryQubits) return;
  throw fail(
      ErrorCode::kBadData,
      "a step of this model acts on {} qubits at once; circuits are made for up to {}, which "
      "take hundreds of thousands of gates",
      needed, kMostUnitaryQubits);
}

/// C as amplitudes of the symbol's register, a column for each state of the system; beyond n, |0⟩.
Circuit emission_circuit(const KrausSet& set, int qubits) {
  const int system = system_qubits_of(set.latent_dim());
  const int symbol = qubits_for(set.alphabet_size());
  RealMatrix amplitudes = RealMatrix::Zero(Index{1} << symbol, Index{1} << system);
  amplitudes.row(0).setOnes();
  amplitudes.topLeftCorner(set.alphabet_size(), set.latent_dim()) = set.emission();
  CircuitDraft draft(qubits);
  add_multiplexed_real_state(draft, range(0, system), range(system, symbol), amplitudes);
  return draft.finish();
}

CircuitStep step_circuit(const KrausSet& set, int qubits) {
  CircuitDraft draft(qubits);
  add_isometry(draft, padded_isometry(set));
  CircuitStep out{draft.finish(), {}};
  if (set.emits_on() == EmissionKind::kState) out.emit = emission_circuit(set, qubits);
  return out;
}

/// The eigenvectors of the initial state that count, the heaviest first.
HermitianEigen spectrum_of(const Matrix& state) {
  const HermitianEigen all = hermitian_eigen(state);
  Index rank = 0;
  for (const double weight : all.values) rank += weight > kNoWeight ? 1 : 0;
  return {all.values.tail(rank).reverse(), all.vectors.rightCols(rank).rowwise().reverse()};
}

/// Σ_k √λ_k |k⟩ on qubits of the environment, copied to the system, whose |k⟩ become the
/// eigenvectors: the environment forgotten, the system is in the mixed state.
void add_purification(CircuitDraft& draft, const HermitianEigen& state, int system) {
  const int ancillas = qubits_for(state.values.size());
  RealMatrix amplitudes = RealMatrix::Zero(Index{1} << ancillas, 1);
  amplitudes.col(0).head(state.values.size()) = state.values.cwiseMax(0.0).cwiseSqrt();
  amplitudes.col(0).normalize();
  const std::vector<int> register_of = range(system, ancillas);
  add_multiplexed_real_state(draft, {}, register_of, amplitudes);
  for (int k = 0; k < ancillas; ++k) draft.cx(register_of[static_cast<std::size_t>(k)], k);
  Matrix columns = Matrix::Zero(Index{1} << system, state.vectors.cols());
  columns.topRows(state.vectors.rows()) = state.vectors;
  add_unitary(draft, completed(columns, columns.rows()));
}

Circuit prepare_circuit(const HermitianEigen& state, int system, int qubits) {
  CircuitDraft draft(qubits);
  if (state.values.size() == 1) {
    Vector amplitudes = Vector::Zero(Index{1} << system);
    amplitudes.head(state.vectors.rows()) = state.vectors.col(0);
    add_state(draft, range(0, system), amplitudes);
  } else {
    add_purification(draft, state, system);
  }
  return draft.finish();
}

std::size_t steps_of(const Hqmm& model, std::size_t wanted) {
  if (wanted > kMostSteps) {
    throw fail(ErrorCode::kUsage, "{} is more than the {} steps a circuit may have",
               option("steps", wanted), kMostSteps);
  }
  if (wanted > 0) return wanted;
  return model.positions.stationary() ? kDefaultSteps : model.positions.entries().size();
}

/// A step for each set that is used, and which of them makes each symbol.
void add_steps(const Hqmm& model, std::size_t count, ModelCircuit& out) {
  constexpr std::uint32_t kUnused = 0xFFFFFFFF;
  std::vector<std::uint32_t> step_of(model.sets.size(), kUnused);
  for (std::size_t t = 0; t < count; ++t) {
    const std::uint32_t set = model.positions.set_at(t, count);
    if (step_of[set] == kUnused) {
      step_of[set] = static_cast<std::uint32_t>(out.steps.size());
      out.steps.push_back(step_circuit(model.sets[set], out.qubits()));
    }
    out.order.push_back(step_of[set]);
  }
}

}  // namespace

Matrix padded_isometry(const KrausSet& set) {
  const Index n = set.latent_dim();
  const Index branches = branches_of(set);
  const Index padded = Index{1} << system_qubits_of(n);
  Matrix out = Matrix::Zero(padded << qubits_for(branches), padded);
  for (Index b = 0; b < branches; ++b)
    out.block(b * padded, 0, n, n) = set.stack().middleRows(b * n, n);
  for (Index i = n; i < padded; ++i) out(i, i) = 1.0;
  return out;
}

ModelCircuit model_circuit(const AnyModel& given, const CircuitOptions& options) {
  const Hqmm model = as_hqmm(given);
  require_feasible(model);
  require_small(model);
  const HermitianEigen initial = spectrum_of(model.initial_state);
  if (options.initial == InitialCircuit::kPure && initial.values.size() > 1) {
    throw fail(ErrorCode::kUsage,
               "{}: the initial state is mixed, of rank {}; "
               "without the option it is prepared by purification",
               option("initial", "pure"), initial.values.size());
  }
  const KrausSet& set = model.sets.front();
  const bool on_states = set.emits_on() == EmissionKind::kState;
  ModelCircuit out;
  out.alphabet = model.alphabet;
  out.emission = set.emits_on();
  out.system_qubits = system_qubits_of(model.latent_dim());
  const int branch_qubits = qubits_for(branches_of(set));
  out.measured_qubits = on_states ? qubits_for(set.alphabet_size()) : branch_qubits;
  out.outcomes_per_symbol = on_states ? 1 : set.kraus_rank();
  out.environment_qubits =
      std::max({branch_qubits, out.measured_qubits, qubits_for(initial.values.size())});
  out.prepare = prepare_circuit(initial, out.system_qubits, out.qubits());
  out.prepare_uses_environment = initial.values.size() > 1;
  add_steps(model, steps_of(model, options.steps), out);
  return out;
}

}  // namespace hqmm::detail
