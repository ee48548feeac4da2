#include "hqmm/reproduction/zoo_study.hpp"

#include <algorithm>
#include <limits>
#include <numbers>
#include <span>
#include <variant>

#include "hqmm/model/channel.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/run/session.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail::reproduction {
namespace {

struct Size {
  Index n, w;  // w = 0: an HMM
  EmissionKind emission = EmissionKind::kEdge;
};
constexpr Size kHqmms[] = {{2, 1}, {2, 2}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 2}, {6, 2}};
constexpr Index kMostHmmStates = 8;

/// Those that emit on their states first: of equal n they are the smaller ones.
std::vector<Size> hmm_sizes() {
  std::vector<Size> out;
  for (Index n = 2; n <= kMostHmmStates; ++n) {
    out.push_back({n, 0, EmissionKind::kState});
    out.push_back({n, 0, EmissionKind::kEdge});
  }
  return out;
}

constexpr std::size_t kQuickSizes = 2;
constexpr std::string_view kQuick[] = {"golden-mean", "even", "fanizza"};
constexpr std::size_t kHqmmStarts = 4;

double bits_of(const AnyModel& model, const SequenceSet& set, int threads) {
  const Score found =
      score(model, set, {.burn_in = kZooBurnIn, .threads = threads, .per_sequence = false});
  return found.bits_per_symbol.value_or(std::numeric_limits<double>::infinity());
}

TrainOptions options_of(const Size& size, const ZooOptions& how) {
  TrainOptions out = default_options(size.w == 0 ? LearnerKind::kEm : LearnerKind::kNsRis);
  out.latent_dim = size.n;
  out.kraus_rank = std::max<Index>(size.w, 1);
  out.emission = size.emission;
  if (size.w > 0) out.restarts = kHqmmStarts;
  if (how.quick) out.restarts = 1;
  out.validation_burn_in = kZooBurnIn;
  out.seed = how.seed;
  out.threads = how.threads;
  return out;
}

ZooModel learned(const Size& size, const Benchmark& data, double true_bits, const ZooOptions& how) {
  const Session session({borrowed(data.train), borrowed(data.validation), {}, {}, {}},
                        options_of(size, how));
  SessionRequest request;
  request.report = Report::kNothing;
  const AnyModel model = session.run(request).trained.model;
  return {size.n, size.w, size.emission, parameter_count(model),
          bits_of(model, data.test, how.threads) - true_bits};
}

ZooSearch search(std::span<const Size> sizes, const Benchmark& data, double true_bits,
                 const ZooOptions& how, const std::function<void(const ZooModel&)>& told) {
  ZooSearch out;
  if (how.quick) sizes = sizes.first(std::min(sizes.size(), kQuickSizes));
  for (const Size& size : sizes) {
    out.tried.push_back(learned(size, data, true_bits, how));
    if (told) told(out.tried.back());
    if (out.smallest() != nullptr) break;
  }
  return out;
}

}  // namespace

const ZooModel* ZooSearch::smallest() const {
  const auto found = std::find_if(tried.begin(), tried.end(), [](const ZooModel& model) {
    return model.excess <= kCloseEnough;
  });
  return found == tried.end() ? nullptr : &*found;
}

const ZooModel& ZooSearch::best() const {
  return *std::min_element(tried.begin(), tried.end(), [](const ZooModel& a, const ZooModel& b) {
    return a.excess < b.excess;
  });
}

std::vector<const Process*> zoo_processes(const ZooOptions& options) {
  std::vector<const Process*> out;
  for (const Process& process : processes()) {
    if (options.quick &&
        std::find(std::begin(kQuick), std::end(kQuick), process.name) == std::end(kQuick))
      continue;
    out.push_back(&process);
  }
  return out;
}

ZooRow study_process(const Process& process, const ZooOptions& options,
                     const std::function<void(const ZooModel&)>& told) {
  const AnyModel truth = process.model();
  const Benchmark data = generate_benchmark(truth, options.seed, options.threads);
  ZooRow out;
  out.process = &process;
  const auto exact = process.exact_entropy();
  out.exact = exact.has_value();
  const EntropyOptions estimate{0, options.seed, options.threads};
  out.entropy =
      exact ? *exact
            : std::visit([&](const auto& model) { return entropy_rate(model, estimate); }, truth)
                      .nats /
                  std::numbers::ln2;
  out.true_bits = bits_of(truth, data.test, options.threads);
  out.hqmm = search(kHqmms, data, out.true_bits, options, told);
  out.hmm = search(hmm_sizes(), data, out.true_bits, options, told);
  return out;
}

}  // namespace hqmm::detail::reproduction
