#include "hqmm/score/score_packing.hpp"

#include <optional>
#include <span>

namespace hqmm::detail {

void pack(const Score& score, Packer& out) {
  out.number(score.sequences).number(score.skipped).number(score.symbols);
  out.number(score.log_likelihood).number(score.da_mean).number(score.da_std);
  out.number(score.bits_per_symbol).number(score.perplexity).number(score.impossible);
  out.number(score.raw).number(score.feasibility_residual).number(score.first_impossible);
  out.numbers(std::span<const SequenceLikelihood>(score.per_sequence));
}

Score unpack_score(Unpacker& in) {
  using Figure = std::optional<double>;
  Score out;
  out.sequences = in.number<std::uint64_t>();
  out.skipped = in.number<std::uint64_t>();
  out.symbols = in.number<std::uint64_t>();
  out.log_likelihood = in.number<double>();
  out.da_mean = in.number<Figure>();
  out.da_std = in.number<Figure>();
  out.bits_per_symbol = in.number<Figure>();
  out.perplexity = in.number<Figure>();
  out.impossible = in.number<std::uint64_t>();
  out.raw = in.number<std::optional<Score::Raw>>();
  out.feasibility_residual = in.number<double>();
  out.first_impossible = in.number<std::optional<Score::Place>>();
  out.per_sequence = in.numbers<SequenceLikelihood>();
  return out;
}

}  // namespace hqmm::detail
