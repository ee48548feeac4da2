#include "hqmm/engine/quantum/shared_gradient.hpp"

#include <algorithm>
#include <variant>

#include "hqmm/core/packing.hpp"
#include "hqmm/engine/shared_sum.hpp"
#include "hqmm/model/model_packing.hpp"

namespace hqmm::detail {

std::string GradientRequest::packed() const {
  Packer out;
  pack(model, out);
  out.number(options.burn_in).number(options.through_burn_in).number(options.want_initial_state);
  out.number(options.engine).number(options.tangent_only).number(choice).number(feasible);
  out.numbers(options.numbers).numbers(options.weights);
  return out.take();
}

UnpackedGradientRequest::UnpackedGradientRequest(std::string_view packed) {
  Unpacker in(packed);
  model = std::get<Hqmm>(unpack_model(in));
  options.burn_in = in.number<std::size_t>();
  options.through_burn_in = in.number<bool>();
  options.want_initial_state = in.number<bool>();
  options.engine = in.number<EngineKind>();
  options.tangent_only = in.number<bool>();
  choice = in.number<Choice>();
  feasible = in.number<bool>();
  numbers = in.numbers<std::uint32_t>();
  weights = in.numbers<double>();
  options.weights = weights;
}

GradientReply::GradientReply(std::string_view packed) {
  if (packed.empty()) return;
  Unpacker in(packed);
  good = in.number<bool>();
  likelihoods_ = in.text();
  sum_ = in.text();
}

void GradientReply::keep(const ShareLikelihoods& likelihoods, TreeSum<ChainResult>& sum) {
  Packer out;
  out.number(likelihoods.first).numbers(likelihoods.log_likelihoods);
  out.numbers(likelihoods.log_totals);
  likelihoods_ = out.take();
  sum_ = pack_sum(sum);
}

std::string GradientReply::packed() const {
  return Packer().number(good).text(likelihoods_).text(sum_).take();
}

void GradientReply::put_likelihoods(std::span<double> log_likelihoods,
                                    std::span<double> log_totals) const {
  for (Unpacker in(likelihoods_); !in.at_end();) {
    const auto first = static_cast<std::ptrdiff_t>(in.number<std::uint64_t>());
    const std::vector<double> raw = in.numbers<double>();
    const std::vector<double> totals = in.numbers<double>();
    std::copy(raw.begin(), raw.end(), log_likelihoods.begin() + first);
    std::copy(totals.begin(), totals.end(), log_totals.begin() + first);
  }
}

void GradientReply::add_to(TreeSum<ChainResult>& sum) const { add_packed(sum_, sum); }

std::string GradientReply::merge(const std::string& ours, const std::string& theirs) {
  if (ours.empty()) return theirs;
  const GradientReply a(ours);
  const GradientReply b(theirs);
  GradientReply out;
  out.good = a.good && b.good;
  if (!out.good) return out.packed();
  out.likelihoods_ = a.likelihoods_ + b.likelihoods_;
  out.sum_ = merge_sums<ChainResult>(a.sum_, b.sum_);
  return out.packed();
}

}  // namespace hqmm::detail
