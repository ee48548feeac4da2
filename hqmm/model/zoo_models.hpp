// The models of the zoo, one function each.
#pragma once

#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

/// Three states that mostly stay; the symbol is the state or, less often, another one.
[[nodiscard]] Hmm mess3();
/// A fair coin but that after a 0 comes a 1.
[[nodiscard]] EdgeHmm golden_mean();
/// A fair coin but that 1s come in pairs.
[[nodiscard]] EdgeHmm even_process();
/// The simple nonunifilar source: two states that both emit 0; the second lets out a 1 sooner or
/// later and goes back.
[[nodiscard]] EdgeHmm simple_nonunifilar();
/// A random bit; after a 0 another random bit; then a 1.
[[nodiscard]] EdgeHmm random_insertion();
/// 1s until a 0; after it a 1 and a random bit.
[[nodiscard]] EdgeHmm nemo();
/// Spins of the AKLT chain, each measured along z or, as a coin says, along x: symbols 0 1 2 are +,
/// 0 and − along z, 3 4 5 along x. n = 2, w = 1, real.
[[nodiscard]] Hqmm aklt();
/// A qubit turns by one radian, an irrational part of a turn, and fades as it emits 0s, until a 1
/// puts it back. How long that takes has a period that no finite HMM has: the leading eigenvalues
/// of its matrix of 0s would be e^{±2i} times a number, which Perron and Frobenius rule out. n = 2,
/// w = 1, real. (After Fanizza, Lumbreras and Winter, whose processes wait like this.)
[[nodiscard]] Hqmm fanizza();

}  // namespace hqmm::detail
