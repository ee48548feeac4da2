// What `hqmm reproduce` prints: the tables with a legend, or a few rows for a first look. The words
// are in terminal.md.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "reproduce/figure_text.hpp"
#include "reproduce/prose.hpp"
#include "reproduce/reproduce.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

/// The rows of the studies, and what they show.
class FirstLook {
 public:
  explicit FirstLook(const Reproduction& all) : all_(all) {
    for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm})
      if (all.has(study)) add(study);
  }

  [[nodiscard]] std::string text() const {
    std::string out = aligned_markdown_table(rows_, 2);
    out += "\n" + prose("look-accuracy") + "\n";
    if (hqmm_wins_) out += prose("look-wins") + "\n";
    out += prose("look-honest");
    if (raw_is_impossible_) out += " " + prose("look-raw");
    return out + "\n";
  }

 private:
  void add(Study study) {
    const bool quantum = study == Study::kSyntheticHqmm;
    const std::string maker = prose(quantum ? "maker-hqmm" : "maker-hmm");
    const Index n = quantum ? 2 : 3;
    const double truth = all_.truths.at(study).test.da;
    rows_.push_back({maker, prose("row-truth"), fmt::format("{:.4f}", truth), kNone});
    const auto put = [&](const Group* group, const std::string& words) {
      if (group == nullptr) return;
      rows_.push_back(
          {maker, words, test_figure(group, false), fmt::format("{:.1f}", group->seconds.mean)});
    };
    const Group* ours = best_on_validation(all_.groups, study, Method::kNsRis, n);
    const Group* em = find_group(all_.groups, study, Method::kEm, n, 0);
    const Group* literal =
        find_group(all_.groups, study, Method::kNsRisLiteral, quantum ? 2 : 6, 1);
    if (ours == nullptr || em == nullptr || literal == nullptr) return;
    put(ours, prose("row-ours", fmt::arg("n", n), fmt::arg("w", ours->cell.kraus_rank)));
    put(find_group(all_.groups, study, Method::kCosm, n, 1), prose("row-cosm", fmt::arg("n", n)));
    put(em, prose("row-em", fmt::arg("n", n)));
    put(literal, prose("row-literal", fmt::arg("n", literal->cell.latent_dim)));
    rows_.push_back({maker, prose("row-raw"), figure(literal->raw, false), kNone});
    hqmm_wins_ = hqmm_wins_ && ours->test.mean > em->test.mean;
    raw_is_impossible_ = raw_is_impossible_ && literal->raw.mean > truth;
  }

  const Reproduction& all_;
  std::vector<std::vector<std::string>> rows_{
      {"data made by", "described by", "accuracy", "seconds"}};
  bool hqmm_wins_ = true;
  bool raw_is_impossible_ = true;
};

/// The tables of a synthetic study.
std::string study_tables(const Reproduction& all, Study study) {
  const char* which = study == Study::kSyntheticHmm ? "table-hmm" : "table-hqmm";
  return prose(which, fmt::arg("study", name_of(study)),
               fmt::arg("table", accuracy_table(all, study, false))) +
         "\n" + prose("table-seconds", fmt::arg("table", seconds_table(all, study))) + "\n";
}

}  // namespace

std::string first_look(const Reproduction& all) { return FirstLook(all).text(); }

std::string terminal_tables(const Reproduction& all) {
  std::string out;
  bool synthetic = false;
  bool bounded = false;
  for (const Group& group : all.groups) bounded = bounded || group.time_bounded;
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm}) {
    if (!all.has(study)) continue;
    synthetic = true;
    out += study_tables(all, study);
  }
  if (synthetic) out += prose("legend") + "\n";
  if (bounded) out += prose("legend-bounded") + "\n";
  if (!all.has(Study::kSplice)) {
    if (all.splice_missing) out += "\n" + prose("no-splice") + "\n";
    return out;
  }
  for (const bool clean : {true, false}) {
    const std::string protocol = prose(clean ? "protocol-clean" : "protocol-peers");
    out += "\n" + prose("table-splice", fmt::arg("protocol", protocol)) + "\n\n" +
           splice_table(all, clean);
  }
  return out;
}

}  // namespace hqmm::cli
