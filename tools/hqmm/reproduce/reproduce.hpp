// The parts of `hqmm reproduce`: its data, its cells on disk, its results as files, table, page and
// figures.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "support/command.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

using namespace hqmm::detail::reproduction;

struct ReproduceOptions {
  CommonOptions common;
  std::string which;
  std::size_t seeds = 5;
  double time_limit = 60.0;  // seconds per cell of Givens search
  std::string data;          // a folder with the published files; empty: our generator
  std::string docs;          // where to write the page as well
  bool quick = false;

  /// As one would type it.
  [[nodiscard]] std::string command() const;
};

// data.cpp
struct ReproductionData {
  std::map<Study, SyntheticData> synthetic;
  std::optional<SequenceSet> splice;
  std::map<Study, std::string> hashes;
  std::string source;  // for people
};
/// Reads or makes the data of the studies, and takes splice off the list where `all` was asked for
/// and it is not there. Throws kNoInput.
[[nodiscard]] ReproductionData find_data(const ReproduceOptions& options,
                                         std::vector<Study>& studies);

/// splice.data in the folder or in $HQMM_DATA, or nothing.
[[nodiscard]] std::optional<std::filesystem::path> find_splice(const std::string& folder);

// zoo.cpp
/// The smallest models of every process with a known truth, as zoo.md and zoo.json.
void reproduce_zoo(const ReproduceOptions& options);

// run.cpp
/// Runs the cells that are not done yet and returns all, in the order of the plan. Every finished
/// cell is a file in DIR/cells. Throws kInterrupted after Ctrl-C.
[[nodiscard]] std::vector<CellResult> run_cells(const ReproduceOptions& options,
                                                const std::vector<Cell>& plan,
                                                const ReproductionData& data);
/// Another rank's part of that.
void help_cells(const ReproduceOptions& options, const std::vector<Cell>& plan,
                const ReproductionData& data, Ranks& others);

// files.cpp
[[nodiscard]] Json to_json(const CellResult& result);
/// Throws nlohmann::json::exception or kBadData.
[[nodiscard]] CellResult cell_result_from_json(const nlohmann::json& json);
/// Where results depend on it: version, instruction set, data, the time limit of Givens search.
[[nodiscard]] Json made_with(const ReproduceOptions& options, const Cell& cell,
                             const ReproductionData& data);

/// Everything a run found, ready to be shown.
struct Reproduction {
  const ReproduceOptions* options = nullptr;
  const ReproductionData* data = nullptr;
  std::vector<Study> studies;
  bool splice_missing = false;
  std::vector<CellResult> results;
  std::vector<Group> groups;
  std::map<Study, SyntheticOutcome> truths;
  std::vector<Comparison> comparisons;
  std::vector<AboveTruth> above;

  [[nodiscard]] bool has(Study study) const;
};
[[nodiscard]] std::string results_csv(const Reproduction& all);
[[nodiscard]] std::string seconds_csv(const Reproduction& all);
[[nodiscard]] Json results_json(const Reproduction& all);
/// The processor's name, or "unknown".
[[nodiscard]] std::string processor_name();

// table.cpp
/// Tables in the form of Markdown: for the terminal and the page alike.
[[nodiscard]] std::string accuracy_table(const Reproduction& all, Study study, bool with_spread);
/// Training time, mean over seeds.
[[nodiscard]] std::string seconds_table(const Reproduction& all, Study study);
/// Training, validation and test accuracy of every method and size.
[[nodiscard]] std::string split_table(const Reproduction& all, Study study);
/// The synthetic HMM under the paper's protocol with its steps and with small ones; may be empty.
[[nodiscard]] std::string step_size_table(const Reproduction& all);
[[nodiscard]] std::string splice_table(const Reproduction& all, bool clean);

// terminal.cpp
[[nodiscard]] std::string terminal_tables(const Reproduction& all);
/// A few rows for people who never saw the paper.
[[nodiscard]] std::string first_look(const Reproduction& all);

// claims.cpp
/// The paper's claims and what became of them: one Markdown item each, the words chosen by the
/// numbers.
[[nodiscard]] std::string claims(const Reproduction& all);

// page.cpp
/// The report; `figures` is the folder the links point to, `cited` says where the paper's full
/// reference is.
[[nodiscard]] std::string page(const Reproduction& all, const std::string& figures,
                               const std::string& cited);

// figures.cpp
struct NamedFigure {
  std::string file;  // "hmm-da-by-n.svg"
  std::string caption;
  std::string answers;  // "Figure 1, left panel" of the paper
  std::string svg;
};
[[nodiscard]] std::vector<NamedFigure> figures(const Reproduction& all);

}  // namespace hqmm::cli
