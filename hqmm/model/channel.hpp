// What a model does when it is not observed: its channel's fixed point, eigenvalues and mixing
// rate, and the entropy rate of what it emits.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct Spectrum {
  std::vector<Complex> eigenvalues;  // leading ones, largest modulus first; the first is 1
  double mixing_rate = 0.0;          // modulus of the second: correlations decay like its powers
  bool unique_fixed_point = true;    // only one eigenvalue is 1
  bool converged = true;             // false: stopped at the limit of work, digits are missing
};

/// The `count` leading eigenvalues of ρ ↦ Σ_y 𝒦_y(ρ), or of the transition matrix of an HMM. A
/// channel that is not trace preserving is divided by its largest eigenvalue first. Beyond n = 16
/// an eigenvalue other than the first may stand for several that are equal, and the work is
/// bounded: see `converged`. Throws kBadData when all eigenvalues are zero. A known fixed point
/// is not computed again. For a real model only what real states can show counts: the
/// channel on symmetric matrices.
struct FixedPoint;
[[nodiscard]] Spectrum channel_spectrum(const KrausSet& set, std::size_t count = 8,
                                        const FixedPoint* known = nullptr,
                                        Field field = Field::kComplex);
[[nodiscard]] Spectrum channel_spectrum(const Hmm& model, std::size_t count = 8);
[[nodiscard]] Spectrum channel_spectrum(const EdgeHmm& model, std::size_t count = 8);

/// The state to which the channel, averaged over time, takes I/n (for an HMM the uniform
/// distribution): the fixed point if there is only one.
struct FixedPoint {
  Matrix state;         // density matrix; diagonal for an HMM
  double residual = 0;  // ‖channel(state) − state‖_F
};
[[nodiscard]] FixedPoint channel_fixed_point(const KrausSet& set);
[[nodiscard]] FixedPoint channel_fixed_point(const Hmm& model);
[[nodiscard]] FixedPoint channel_fixed_point(const EdgeHmm& model);

/// Entropy per symbol of the stationary process in nats, estimated by averaging the entropy of the
/// predictive distribution along sampled sequences started at the fixed point. Throws kUsage for a
/// position-dependent model.
struct EntropyRate {
  double nats = 0.0;
  double standard_error = 0.0;  // over independent sequences
  std::uint64_t symbols = 0;
};
struct EntropyOptions {
  std::uint64_t symbols = 0;  // 0: as many as take about a second, at most 2^16
  std::uint64_t seed = 1;
  int threads = 0;
};
[[nodiscard]] EntropyRate entropy_rate(const Hqmm& model, const EntropyOptions& options = {},
                                       const FixedPoint* known = nullptr);
[[nodiscard]] EntropyRate entropy_rate(const Hmm& model, const EntropyOptions& options = {});
[[nodiscard]] EntropyRate entropy_rate(const EdgeHmm& model, const EntropyOptions& options = {});

}  // namespace hqmm
