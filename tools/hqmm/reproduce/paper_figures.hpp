// What the paper printed, to stand beside what we measure. The only figures in this program that
// were not computed by it.
#pragma once

#include <array>

#include "support/internals.hpp"

namespace hqmm::cli::paper {

// Synthetic HMM: the largest improvement it names, of a configuration it calls scenario 4.
inline constexpr double kHmmBest = 0.2615;
inline constexpr double kHmmBestCosm = 0.1736;
// Synthetic HQMM, n = 2, s = 6, w = 1.
inline constexpr double kHqmm = 0.1536;
inline constexpr double kHqmmCosm = 0.1292;
inline constexpr double kHqmmSeconds = 566.19;
inline constexpr double kHqmmCosmSeconds = 643.23;

// Splice: mean class errors.
struct SpliceError {
  int n;
  double em;
  double best_cosm;    // over w; 0 where it printed none
  double best_ns_ris;  // over w; 0 where it printed none
};
inline constexpr std::array<SpliceError, 4> kSplice{{{2, 0.458, 0.0, 0.0},
                                                     {4, 0.456, 0.0, 0.0},
                                                     {6, 0.428, 0.422, 0.340},
                                                     {8, 0.421, 0.402, 0.330}}};
// Errors of EI, IE and N.
struct ClassErrors {
  int n, w;
  std::array<double, 3> cosm, ns_ris;
};
inline constexpr std::array<ClassErrors, 2> kClassErrors{
    {{6, 4, {0.422, 0.357, 0.545}, {0.349, 0.328, 0.409}},
     {8, 4, {0.390, 0.347, 0.531}, {0.340, 0.345, 0.393}}}};

}  // namespace hqmm::cli::paper
