#include "hqmm/model/zoo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <numbers>
#include <utility>
#include <vector>

#include "hqmm/model/channel.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/model/zoo_models.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kMess3Move = 0.15;   // to each other state
constexpr double kMess3Right = 0.6;   // the symbol is the state
constexpr double kFanizzaFade = 0.5;  // of the second basis state in a step
constexpr double kFanizzaTurn = 1.0;  // radians

double binary_entropy(double p) { return -p * std::log2(p) - (1.0 - p) * std::log2(1.0 - p); }

/// From the chances of 0, 1, 2, … symbols between two that put the process back: H(f) / mean gap.
double renewal_entropy(const std::vector<double>& gaps) {
  double entropy = 0.0;
  double length = 0.0;
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    if (gaps[k] > 0.0) entropy -= gaps[k] * std::log2(gaps[k]);
    length += gaps[k] * static_cast<double>(k + 1);
  }
  return entropy / length;
}

/// An edge that is there: from a state by a symbol to another.
struct Move {
  Index from, symbol, to;
  double probability;
};

EdgeHmm machine(Index states, std::initializer_list<Move> moves) {
  EdgeHmm out;
  out.alphabet = Alphabet::integers(2);
  out.edges.assign(2, RealMatrix::Zero(states, states));
  for (const Move& move : moves)
    out.edges[static_cast<std::size_t>(move.symbol)](move.to, move.from) = move.probability;
  out.initial = RealVector::Constant(states, 1.0 / static_cast<double>(states));
  return out;
}

EdgeHmm started(EdgeHmm model, std::initializer_list<double> stationary) {
  std::copy(stationary.begin(), stationary.end(), model.initial.begin());
  return model;
}

/// How often the chance of a gap is worked out: what is beyond weighs less than rounding.
constexpr int kGaps = 300;

double simple_nonunifilar_entropy() {
  std::vector<double> gaps(kGaps);  // n zeros, then a 1: n / 2^(n+1)
  for (int n = 0; n < kGaps; ++n)
    gaps[static_cast<std::size_t>(n)] = static_cast<double>(n) * std::ldexp(1.0, -n - 1);
  return renewal_entropy(gaps);
}

/// What emits a 0: the fading, then a turn, so that the eigenvalues have the phases ±kFanizzaTurn.
Eigen::Matrix2d fanizza_turn() {
  const double fade = std::sqrt(1.0 - kFanizzaFade);
  const double c = 2.0 * std::sqrt(fade) * std::cos(kFanizzaTurn) / (1.0 + fade);
  const double s = std::sqrt(1.0 - c * c);
  Eigen::Matrix2d out;
  out << c, -s * fade, s, c * fade;
  return out;
}

double fanizza_entropy() {
  std::vector<double> gaps(kGaps);
  Eigen::Vector2d state(1.0, 0.0);
  for (double& gap : gaps) {
    gap = kFanizzaFade * state(1) * state(1);
    state = (fanizza_turn() * state).eval();
  }
  return renewal_entropy(gaps);
}

Hqmm real_model(KrausSet set) {
  const Alphabet alphabet = Alphabet::integers(static_cast<std::size_t>(set.alphabet_size()));
  const Matrix state = channel_fixed_point(set).state.real().cast<Complex>();
  return stationary_hqmm(alphabet, std::move(set), state, Field::kReal);
}

using Known = std::optional<double>;

constexpr std::array kProcesses{
    Process{"synthetic-hmm", "the paper's HMM: 6 states, 6 symbols",
            [] { return AnyModel(synthetic_hmm()); }, []() -> Known { return {}; }},
    Process{"synthetic-hqmm", "the paper's HQMM: a spin measured along x, y or z at random (n = 2)",
            [] { return AnyModel(synthetic_hqmm()); },
            []() -> Known { return std::log2(3.0) / 3.0 + 2.0 / 3.0 * std::log2(6.0); }},
    Process{"mess3", "3 states that mostly stay, seen through noise: 3 symbols",
            [] { return AnyModel(mess3()); }, []() -> Known { return {}; }},
    Process{"golden-mean", "a coin, with no two 0s in a row",
            [] { return AnyModel(golden_mean()); }, []() -> Known { return 2.0 / 3.0; }},
    Process{"even", "a coin, with 1s in pairs: any number of pairs between two 0s",
            [] { return AnyModel(even_process()); }, []() -> Known { return 2.0 / 3.0; }},
    Process{"simple-nonunifilar", "0s from two states that look alike, 1s from the second (SNS)",
            [] { return AnyModel(simple_nonunifilar()); },
            []() -> Known { return simple_nonunifilar_entropy(); }},
    Process{"random-insertion", "a random bit, after a 0 another one, then a 1 (RIP)",
            [] { return AnyModel(random_insertion()); }, []() -> Known { return 0.6; }},
    Process{"nemo", "1s until a 0, then a 1 and a random bit", [] { return AnyModel(nemo()); },
            []() -> Known { return 0.75; }},
    Process{"aklt", "spins of the AKLT chain, measured along z or x: an HQMM with n = 2, 6 symbols",
            [] { return AnyModel(aklt()); },
            []() -> Known { return 1.0 + 0.5 * binary_entropy(1.0 / 3.0) + 0.5 * std::log2(3.0); }},
    Process{"fanizza", "a qubit that turns until it clicks: n = 2, and no finite HMM emits this",
            [] { return AnyModel(fanizza()); }, []() -> Known { return fanizza_entropy(); }},
};

}  // namespace

std::span<const Process> processes() { return kProcesses; }

const Process* find_process(std::string_view name) {
  const auto found = std::find_if(kProcesses.begin(), kProcesses.end(),
                                  [&](const Process& process) { return process.name == name; });
  return found == kProcesses.end() ? nullptr : &*found;
}

Hmm detail::mess3() {
  constexpr Index kStates = 3;
  Hmm out;
  out.alphabet = Alphabet::integers(kStates);
  out.transition = RealMatrix::Constant(kStates, kStates, kMess3Move);
  out.transition.diagonal().setConstant(1.0 - 2.0 * kMess3Move);
  out.emission = RealMatrix::Constant(kStates, kStates, (1.0 - kMess3Right) / 2.0);
  out.emission.diagonal().setConstant(kMess3Right);
  out.initial = RealVector::Constant(kStates, 1.0 / 3.0);
  return out;
}

EdgeHmm detail::golden_mean() {
  return started(machine(2, {{0, 1, 0, 0.5}, {0, 0, 1, 0.5}, {1, 1, 0, 1.0}}),
                 {2.0 / 3.0, 1.0 / 3.0});
}

EdgeHmm detail::even_process() {
  return started(machine(2, {{0, 0, 0, 0.5}, {0, 1, 1, 0.5}, {1, 1, 0, 1.0}}),
                 {2.0 / 3.0, 1.0 / 3.0});
}

EdgeHmm detail::simple_nonunifilar() {
  return started(machine(2, {{0, 0, 0, 0.5}, {0, 0, 1, 0.5}, {1, 0, 1, 0.5}, {1, 1, 0, 0.5}}),
                 {0.5, 0.5});
}

EdgeHmm detail::random_insertion() {
  return started(
      machine(3, {{0, 0, 1, 0.5}, {0, 1, 2, 0.5}, {1, 0, 2, 0.5}, {1, 1, 2, 0.5}, {2, 1, 0, 1.0}}),
      {0.4, 0.2, 0.4});
}

EdgeHmm detail::nemo() {
  return started(
      machine(3, {{0, 1, 0, 0.5}, {0, 0, 1, 0.5}, {1, 1, 2, 1.0}, {2, 0, 0, 0.5}, {2, 1, 0, 0.5}}),
      {0.5, 0.25, 0.25});
}

Hqmm detail::aklt() {
  const double flip = std::sqrt(1.0 / 3.0);  // √(2/3) of the chain, √(1/2) of the coin
  const double keep = std::sqrt(1.0 / 6.0);
  const double r = std::sqrt(0.5);
  Matrix turn(2, 2);  // from z to x
  turn << r, r, r, -r;
  KrausSet set(6, 1, 2);
  set.op(0, 0)(0, 1) = flip;
  set.op(1, 0)(0, 0) = keep;
  set.op(1, 0)(1, 1) = -keep;
  set.op(2, 0)(1, 0) = flip;
  for (Index y = 0; y < 3; ++y) set.op(3 + y, 0) = turn * set.op(y, 0) * turn;
  return real_model(std::move(set));
}

Hqmm detail::fanizza() {
  KrausSet set(2, 1, 2);
  set.op(0, 0) = fanizza_turn().cast<Complex>();
  set.op(1, 0)(0, 1) = std::sqrt(kFanizzaFade);
  return real_model(std::move(set));
}

}  // namespace hqmm
