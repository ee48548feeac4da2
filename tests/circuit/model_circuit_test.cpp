// Models as circuits: the unitary of a step against the isometry, and what the circuit emits
// against the model's own probabilities.
#include "hqmm/circuit/model_circuit.hpp"

#include <gtest/gtest.h>

#include "hqmm/circuit/shannon.hpp"
#include "hqmm/core/error.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/circuits.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kAsGood = 1e-10;

void expect_same_probabilities(const Hqmm& model, const ModelCircuit& circuit, std::size_t length,
                               RandomStream& random) {
  for (int k = 0; k < 2; ++k) {
    const auto symbols = random_symbols(length, model.alphabet_size(), random);
    EXPECT_NEAR(circuit_probability(circuit, symbols), naive_probability(model, symbols), kAsGood);
  }
}

void expect_same_unitaries(const Hqmm& model, const ModelCircuit& circuit) {
  for (std::size_t k = 0; k < circuit.steps.size(); ++k) {
    const Matrix isometry = padded_isometry(model.sets[k]);
    const Matrix found = unitary_columns(circuit.steps[k].evolve, isometry.cols());
    EXPECT_LT((found.topRows(isometry.rows()) - isometry).norm(), kAsGood);
    if (circuit.qubits() <= 4) {
      const Matrix naive = naive_unitary(circuit.steps[k].evolve);
      EXPECT_LT((naive.leftCols(isometry.cols()) - found).norm(), kAsGood);
    }
    EXPECT_LT(found.bottomRows(found.rows() - isometry.rows()).norm(), kAsGood);
    int qubits = circuit.system_qubits;
    while ((Index{1} << qubits) < isometry.rows()) ++qubits;
    EXPECT_LE(static_cast<double>(cost_of(circuit.steps[k].evolve).cnots),
              shannon_bound(qubits) + 1e-9);
  }
}

TEST(ModelCircuit, AHundredRandomModels) {
  RandomStream random(1, Purpose::kTest);
  int tried = 0;
  for (const Index n : {2, 3, 4, 8}) {
    for (Index k = 0; k < 7; ++k) {
      const Shape shape{.n = n, .s = 2 + k % 5, .w = 1 + k % 2};
      for (const Shape& kind : of_every_kind(shape)) {
        const Hqmm model = random_hqmm(kind, random);
        const ModelCircuit circuit = model_circuit(model);
        expect_same_unitaries(model, circuit);
        if (circuit.qubits() <= 5) expect_same_probabilities(model, circuit, 3, random);
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 100);
}

TEST(ModelCircuit, PreparesMixedStatesOfAnyRank) {
  RandomStream random(2, Purpose::kTest);
  for (const Index n : {1, 2, 3, 5, 8}) {
    for (Index rank = 1; rank <= n; ++rank) {
      Hqmm model = random_hqmm({.n = n, .s = 2, .w = 1}, random);
      const Matrix vectors = random_hqmm({.n = n, .s = 1, .w = 1}, random).sets[0].op(0, 0);
      RealVector weights = RealVector::Zero(n);
      for (Index k = 0; k < rank; ++k) weights(k) = 1.0 + static_cast<double>(k % 3);
      weights /= weights.sum();
      model.initial_state = vectors * weights.asDiagonal() * vectors.adjoint();
      const ModelCircuit circuit = model_circuit(model);
      EXPECT_EQ(circuit.prepare_uses_environment, rank > 1);
      EXPECT_LT((prepared_state(circuit).topLeftCorner(n, n) - model.initial_state).norm(), 1e-12);
    }
  }
}

TEST(ModelCircuit, PositionDependentModelsUnroll) {
  RandomStream random(3, Purpose::kTest);
  for (const auto anchor : {PositionMap::Anchor::kStart, PositionMap::Anchor::kEnd}) {
    for (const Shape& shape : of_every_kind({.n = 2, .s = 2, .w = 1})) {
      const Hqmm model = random_positional_hqmm(shape, anchor, random);
      for (const std::size_t steps : {std::size_t{1}, std::size_t{3}, std::size_t{6}}) {
        const ModelCircuit circuit = model_circuit(model, {.steps = steps});
        EXPECT_EQ(circuit.order.size(), steps);
        expect_same_probabilities(model, circuit, steps, random);
      }
      EXPECT_EQ(model_circuit(model).order.size(), model.positions.entries().size());
    }
  }
}

TEST(ModelCircuit, EmbedsHmms) {
  RandomStream random(4, Purpose::kTest);
  const Hmm hmm = random_started_hmm(3, 3, random);
  const EdgeHmm edge = random_started_edge_hmm(2, 3, random);
  const ModelCircuit of_hmm = model_circuit(hmm);
  const ModelCircuit of_edge = model_circuit(edge);
  EXPECT_EQ(of_hmm.emission, EmissionKind::kState);
  EXPECT_EQ(of_edge.emission, EmissionKind::kEdge);
  for (int k = 0; k < 5; ++k) {
    const auto symbols = random_symbols(3, 3, random);
    EXPECT_NEAR(circuit_probability(of_hmm, symbols), naive_probability(hmm, symbols), kAsGood);
    EXPECT_NEAR(circuit_probability(of_edge, symbols), naive_probability(edge, symbols), kAsGood);
  }
}

TEST(ModelCircuit, SignsOfEmissionVectorsCount) {
  RandomStream random(5, Purpose::kTest);
  Hqmm model = random_hqmm({.n = 3, .s = 3, .w = 2, .emission = EmissionKind::kState}, random);
  model.sets[0].emission()(1, 0) *= -1.0;
  model.sets[0].emission().col(2) *= -1.0;
  expect_same_probabilities(model, model_circuit(model), 4, random);
}

TEST(ModelCircuit, OneSymbolAndOneStateAreCircuitsToo) {
  RandomStream random(6, Purpose::kTest);
  for (const Shape& shape :
       {Shape{.n = 1, .s = 1, .w = 1}, Shape{.n = 1, .s = 3, .w = 1}, Shape{.n = 2, .s = 1, .w = 2},
        Shape{.n = 1, .s = 1, .w = 1, .emission = EmissionKind::kState}}) {
    const Hqmm model = random_hqmm(shape, random);
    expect_same_probabilities(model, model_circuit(model), 2, random);
  }
}

/// The line of the error that is thrown.
std::string refusal(const AnyModel& model, const CircuitOptions& options, ErrorCode code) {
  try {
    (void)model_circuit(model, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

TEST(ModelCircuit, RefusesWhatIsNoCircuit) {
  RandomStream random(7, Purpose::kTest);
  Hqmm infeasible = random_hqmm({.n = 2, .s = 2, .w = 1}, random);
  make_infeasible(infeasible, random);
  EXPECT_NE(refusal(infeasible, {}, ErrorCode::kBadData).find("not trace preserving"),
            std::string::npos);
  const Hqmm large = random_hqmm({.n = 64, .s = 17, .w = 1}, random);
  EXPECT_NE(refusal(large, {}, ErrorCode::kBadData).find("11 qubits"), std::string::npos);
  const CircuitOptions pure{.steps = 1, .initial = InitialCircuit::kPure};
  EXPECT_NE(refusal(synthetic_hqmm(), pure, ErrorCode::kUsage).find("of rank 2"),
            std::string::npos);
  EXPECT_NE(refusal(synthetic_hqmm(), {.steps = 1'000'000}, ErrorCode::kUsage).find("100000"),
            std::string::npos);
}

}  // namespace
}  // namespace hqmm::detail::testing
