// Which of the paper's claims hold: sentences of page.md, chosen by the numbers they judge.
// Only what the paper printed is quoted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/prose.hpp"
#include "reproduce/reproduce.hpp"

namespace hqmm::cli {
namespace {

constexpr double kSignificant = 0.05;

class Claims {
 public:
  explicit Claims(const Reproduction& all) : all_(all) {}

  std::string run() {
    for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm}) {
      if (!all_.has(study)) continue;
      say_headline(study);
    }
    if (all_.has(Study::kSyntheticHmm)) {
      say_improvements();
      say_equal_dimension();
      say_speed();
    }
    if (all_.has(Study::kSplice)) say_splice();
    if (all_.above.empty() && !all_.truths.empty()) say("claim-none-above");
    for (const AboveTruth& one : all_.above) {
      say("claim-suspect", fmt::arg("cell", describe(one.cell)),
          fmt::arg("difference", one.test.difference), fmt::arg("t", one.test.t.value_or(0.0)));
    }
    return out_;
  }

 private:
  template <typename... Args>
  void say(std::string_view section, Args&&... args) {
    out_ += prose(section, std::forward<Args>(args)...) + "\n";
  }

  /// The literal group of a study with the largest raw score on validation.
  [[nodiscard]] const Group* boldest(Study study) const {
    const Group* best = nullptr;
    for (const Group& group : all_.groups) {
      if (group.cell.study != study || group.cell.method != Method::kNsRisLiteral ||
          group.raw.count == 0)
        continue;
      if (best == nullptr || group.raw_validation.mean > best->raw_validation.mean) best = &group;
    }
    return best;
  }

  void say_headline(Study study) {
    const Group* literal = boldest(study);
    if (literal == nullptr) return;
    const double truth = all_.truths.at(study).test.da;
    const double printed = study == Study::kSyntheticHmm ? paper::kHmmBest : paper::kHqmm;
    const bool artefact = literal->raw.mean > truth && literal->test.mean <= truth;
    say("claim-headline", fmt::arg("study", name_of(study)), fmt::arg("printed", printed),
        fmt::arg("verdict", prose(artefact ? "verdict-artefact" : "verdict-open")),
        fmt::arg("truth", truth), fmt::arg("n", literal->cell.latent_dim),
        fmt::arg("w", literal->cell.kraus_rank), fmt::arg("raw", literal->raw.mean),
        fmt::arg("smallest", literal->smallest_singular),
        fmt::arg("largest", literal->largest_singular), fmt::arg("normalised", literal->test.mean));
  }

  /// Mean relative gain over COSM, over the sizes both have.
  template <typename Get>
  [[nodiscard]] std::string gain_over_cosm(Method method, Get get) const {
    std::vector<double> gains;
    for (const Group& group : all_.groups) {
      if (group.cell.study != Study::kSyntheticHmm || group.cell.method != method) continue;
      const Group* cosm = find_group(all_.groups, Study::kSyntheticHmm, Method::kCosm,
                                     group.cell.latent_dim, group.cell.kraus_rank);
      if (cosm != nullptr) gains.push_back(get(group) / cosm->test.mean - 1.0);
    }
    return gains.empty() ? "–" : fmt::format("{:+.1f} %", 100.0 * spread(gains).mean);
  }

  void say_improvements() {
    const auto raw = [](const Group& group) { return group.raw.mean; };
    const auto test = [](const Group& group) { return group.test.mean; };
    say("claim-gain", fmt::arg("raw", gain_over_cosm(Method::kNsRisLiteral, raw)),
        fmt::arg("normalised", gain_over_cosm(Method::kNsRisLiteral, test)),
        fmt::arg("feasible", gain_over_cosm(Method::kNsRisPaper, test)),
        fmt::arg("small", gain_over_cosm(Method::kNsRisPaperSmall, test)),
        fmt::arg("ours", gain_over_cosm(Method::kNsRis, test)));
  }

  [[nodiscard]] const Comparison* against_em(Method method, Index n) const {
    for (const Comparison& one : all_.comparisons) {
      if (one.study == Study::kSyntheticHmm && one.a.method == method &&
          one.b.method == Method::kEm && one.a.latent_dim == n)
        return &one;
    }
    return nullptr;
  }

  void say_equal_dimension() {
    const auto figures = [](const Comparison& one) {
      return fmt::format("{:+.4f} ± {:.4f}, p = {:.1g}", one.test.difference,
                         one.test.standard_error, one.corrected_p);
    };
    std::string wins;
    std::string rest;
    for (Index n = 2; n <= 6; ++n) {
      const Comparison* ours = against_em(Method::kNsRis, n);
      if (ours == nullptr) continue;
      if (ours->test.difference > 0.0 && ours->corrected_p < kSignificant) {
        wins += fmt::format("{}n = {} ({})", wins.empty() ? "" : ", ", n, figures(*ours));
        continue;
      }
      rest += fmt::format("{}n = {} ({}", rest.empty() ? "" : ", ", n, figures(*ours));
      if (const Comparison* warm = against_em(Method::kNsRisWarm, n))
        rest += prose("from-em", fmt::arg("figures", figures(*warm)));
      rest += ")";
    }
    if (!wins.empty()) say("claim-wins", fmt::arg("wins", wins));
    if (!rest.empty()) say("claim-rest", fmt::arg("rest", rest));
  }

  void say_speed() {
    std::vector<double> ratios;
    for (const Group& group : all_.groups) {
      if (group.cell.study == Study::kSplice || group.cell.method != Method::kNsRisPaper) continue;
      const Group* cosm = find_group(all_.groups, group.cell.study, Method::kCosm,
                                     group.cell.latent_dim, group.cell.kraus_rank);
      if (cosm != nullptr && cosm->seconds.mean > 0.0)
        ratios.push_back(std::log(group.seconds.mean / cosm->seconds.mean));
    }
    if (ratios.empty()) return;
    say("claim-speed", fmt::arg("printed", paper::kHqmmSeconds),
        fmt::arg("printed_cosm", paper::kHqmmCosmSeconds),
        fmt::arg("ratio", std::exp(spread(ratios).mean)));
  }

  [[nodiscard]] const Group* best_splice(Method method, Index n, bool clean) const {
    const Group* best = nullptr;
    for (const Group& group : all_.groups) {
      if (group.cell.study != Study::kSplice || group.cell.method != method ||
          group.cell.latent_dim != n || group.cell.clean != clean)
        continue;
      if (best == nullptr || group.error.mean < best->error.mean) best = &group;
    }
    return best;
  }

  [[nodiscard]] std::string best_splice_error(Method method, Index n, bool clean) const {
    const Group* group = best_splice(method, n, clean);
    return group == nullptr ? "–" : fmt::format("{:.3f}", group->error.mean);
  }

  /// The best w at n = 8, as the paper picks it.
  void say_splice() {
    if (best_splice(Method::kNsRisPaper, 8, true) == nullptr) {
      say_small_splice();
      return;
    }
    const auto best = [&](Method method, bool clean) {
      return best_splice_error(method, 8, clean);
    };
    say("claim-splice", fmt::arg("printed", paper::kSplice.back().best_ns_ris),
        fmt::arg("literal", best(Method::kNsRisLiteral, false)),
        fmt::arg("feasible", best(Method::kNsRisPaper, false)),
        fmt::arg("ours", best(Method::kNsRis, false)), fmt::arg("cosm", best(Method::kCosm, false)),
        fmt::arg("clean_literal", best(Method::kNsRisLiteral, true)),
        fmt::arg("clean_feasible", best(Method::kNsRisPaper, true)),
        fmt::arg("clean_ours", best(Method::kNsRis, true)),
        fmt::arg("clean_cosm", best(Method::kCosm, true)));
  }

  /// A quick look has no n = 8: what the largest of its n says.
  void say_small_splice() {
    Index n = 0;
    for (const Group& group : all_.groups)
      if (group.cell.study == Study::kSplice) n = std::max(n, group.cell.latent_dim);
    const auto best = [&](Method method, bool clean) {
      return best_splice_error(method, n, clean);
    };
    say("claim-splice-small", fmt::arg("n", n),
        fmt::arg("clean_literal", best(Method::kNsRisLiteral, true)),
        fmt::arg("clean_feasible", best(Method::kNsRisPaper, true)),
        fmt::arg("clean_ours", best(Method::kNsRis, true)),
        fmt::arg("clean_cosm", best(Method::kCosm, true)),
        fmt::arg("clean_em", best(Method::kEm, true)),
        fmt::arg("literal", best(Method::kNsRisLiteral, false)),
        fmt::arg("feasible", best(Method::kNsRisPaper, false)),
        fmt::arg("ours", best(Method::kNsRis, false)), fmt::arg("cosm", best(Method::kCosm, false)),
        fmt::arg("em", best(Method::kEm, false)));
  }

  const Reproduction& all_;
  std::string out_;
};

}  // namespace

std::string claims(const Reproduction& all) { return Claims(all).run(); }

}  // namespace hqmm::cli
