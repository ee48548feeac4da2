// Shared by the subcommands of `hqmm classify`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/explain.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/internals.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/text_table.hpp"

namespace hqmm::detail {
class ActiveRun;
class FoldCells;
}  // namespace hqmm::detail

namespace hqmm::cli {

void add_classify_fit(Command classify);
void add_classify_predict(Command classify);
void add_classify_cross_validate(Command classify);
void add_classify_extract(Command classify);
/// hqmm inspect of a classifier file.
void inspect_classifier(const ClassifierFile& file, const std::string& path,
                        const CommonOptions& common);

/// How a classifier is learned and selected: the flags that fit and cross-validate share.
class ClassifierFlags {
 public:
  void add_to(Command command);
  /// What to choose from, for this data; `why` says what was taken by default. Throws kUsage.
  struct Plan {
    std::vector<ClassifierSetting> settings;
    CrossValidationOptions selection;  // groups, inner folds, seed, threads
    std::string why;
  };
  [[nodiscard]] Plan plan(const SequenceSet& data, const CommonOptions& common) const;
  /// The files that --positions and --grid name. Throws kUsage.
  [[nodiscard]] std::vector<NamedFile> position_maps() const;
  /// --memory, which a run that goes on does not know of.
  [[nodiscard]] std::size_t memory() const;
  /// For a run's config.json; from_json throws nlohmann::json::exception and kBadData.
  [[nodiscard]] Json to_json() const;
  void from_json(const nlohmann::json& json);

 private:
  [[nodiscard]] std::vector<ClassifierSetting> settings_for(const ClassifierOptions& base,
                                                            const SequenceSet& data) const;
  void set_prior(ClassifierOptions& options, const SequenceSet& data) const;
  [[nodiscard]] bool grid_given() const { return grid_kept_ || grid_option_.given(); }

  GivenOptions given_;
  std::string prior_ = "uniform";
  std::string grid_;
  bool grid_kept_ = false;  // by the resumed run
  Option grid_option_;
  std::string group_ = "identical";
  std::size_t inner_folds_ = 3;
};

/// The labelled sequences of fit and cross-validate: of files that hold classes, or of files that
/// are one class each.
class LabelledFiles {
 public:
  void add_to(Command command);
  /// For require_other_files().
  [[nodiscard]] std::vector<NamedFile> named() const;
  /// The message of what is missing names the files. Throws kUsage for flags that do not go
  /// together.
  [[nodiscard]] SequenceSet read(const DataOptions& data, std::size_t memory) const;
  /// For messages.
  [[nodiscard]] std::string shown() const;
  /// For a run's config.json; to_json throws kUsage for what a run could not read again, from_json
  /// nlohmann::json::exception.
  [[nodiscard]] Json to_json() const;
  void from_json(const nlohmann::json& json);

 private:
  [[nodiscard]] Paths all_paths() const;
  [[nodiscard]] std::vector<ClassFile> class_files() const;

  Paths paths_;
  std::vector<std::string> classes_;  // NAME=FILE
};

/// A line with the time left on a terminal, and Ctrl-C as one line and code 130.
class ClassifyProgress {
 public:
  ClassifyProgress(const CommonOptions& common, std::string what);
  /// `from` and `to` of the whole work are what the hooks' 0 and 1 stand for.
  [[nodiscard]] CrossValidationHooks hooks(double from = 0.0, double to = 1.0);
  void show(double share);
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::string what_;
  StopRequest stop_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The run directory of fit or cross-validate, if there is one: finished parts are kept in
/// it, and a resumed run begins with them.
class ClassifyRun {
 public:
  ClassifyRun();
  ~ClassifyRun();
  ClassifyRun(const ClassifyRun&) = delete;
  ClassifyRun& operator=(const ClassifyRun&) = delete;

  /// `name`: of the command. `result`: where the result goes, for the help.
  void add_to(Command command, const std::string& name, const std::string& result);
  [[nodiscard]] bool given() const { return !folder().empty(); }
  [[nodiscard]] const std::string& folder() const {
    return resume_path_.empty() ? run_path_ : resume_path_;
  }
  [[nodiscard]] std::string file(const std::string& name) const;
  /// With --resume: locks the run and hands its config.json to `take`. Throws kUsage for flags that
  /// are not in `with_resume`.
  void open(const std::set<std::string>& with_resume,
            const std::function<void(const nlohmann::json&)>& take);
  /// Begins the run, with `config` in its config.json; or makes sure that data and settings are
  /// those it began with. From here on parts are kept.
  void begin(const Json& config, const SequenceSet& data, const LabelledFiles& files,
             const std::vector<ClassifierSetting>& settings, const CommonOptions& common);
  /// The -o with which the resumed run began.
  [[nodiscard]] const std::string& began_with() const { return began_with_; }

  [[nodiscard]] CrossValidationHooks with_cells(CrossValidationHooks hooks);
  [[nodiscard]] ClassifierHooks with_members(ClassifierHooks hooks);
  /// Since the run began; `here`: in this process, where there is no run.
  [[nodiscard]] double seconds(double here) const;
  /// The message after Ctrl-C.
  [[nodiscard]] std::string after_interrupt(const CommonOptions& common) const;

 private:
  Command command_;
  std::string name_, run_path_, resume_path_;
  std::string expected_hash_, expected_simd_, began_with_, settings_;
  std::unique_ptr<ActiveRun> run_;
  std::unique_ptr<FoldCells> cells_;
};

/// Ctrl-C during `work` as one line that says what became of it.
template <typename Work>
auto interruptible(const ClassifyRun& run, const CommonOptions& common, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    throw fail(ErrorCode::kInterrupted, "interrupted: {}", run.after_interrupt(common));
  }
}

// Figures as text and as JSON.
[[nodiscard]] std::string errors_text(const std::vector<std::string>& classes,
                                      const Classification& figures);
[[nodiscard]] std::string confusion_text(const std::vector<std::string>& classes,
                                         const Classification& figures);
[[nodiscard]] std::string calibration_text(const Classification& figures, const std::string& prior);
[[nodiscard]] std::string explanation_text(const Explanation& explanation, std::size_t strongest);
[[nodiscard]] std::string percent(double share);

[[nodiscard]] Json figures_json(const std::vector<std::string>& classes,
                                const Classification& figures, const std::string& prior);
[[nodiscard]] Json abstention_json(const Abstention& abstention);
[[nodiscard]] Json explanation_json(const Explanation& explanation);

/// How many rows an explanation may take without anyone waiting long for it.
[[nodiscard]] std::size_t rows_to_explain(const Classifier& classifier, std::size_t longest);

/// "EI" made fit for one cell of a line: nothing that could break it.
[[nodiscard]] std::string class_text(const std::string& name);

// The tables of both.
[[nodiscard]] Cells error_cells(const std::vector<std::string>& classes,
                                const Classification& figures);
[[nodiscard]] Cells confusion_cells(const std::vector<std::string>& classes,
                                    const Classification& figures);
[[nodiscard]] Cells calibration_cells(const Classification& figures);
[[nodiscard]] Cells explanation_cells(const Explanation& explanation, std::size_t c,
                                      std::size_t strongest);

}  // namespace hqmm::cli
