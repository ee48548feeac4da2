// What every subcommand shares: the common flags, the data-reading flags, output and narration.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hqmm/hqmm.hpp"

namespace hqmm::cli {

using Json = nlohmann::ordered_json;

// One function per subcommand: adds it to the application, with what to run when it is chosen.
void add_train(CLI::App& app);
void add_select(CLI::App& app);
void add_classify(CLI::App& app);
void add_score(CLI::App& app);
void add_baseline(CLI::App& app);
void add_predict(CLI::App& app);
void add_sample(CLI::App& app);
void add_inspect(CLI::App& app);
void add_convert(CLI::App& app);
void add_generate(CLI::App& app);
void add_data(CLI::App& app);
void add_reproduce(CLI::App& app);

/// Option values that are whole numbers in a range, or one of a few words; wrong ones get a short
/// message.
[[nodiscard]] CLI::Validator whole_number(
    std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;
  bool quiet = false;
  bool json = false;
  std::string out;
};
/// --seed --threads --quiet --json -o/--out, in one group of the help.
void add_common(CLI::App& command, CommonOptions& options, const std::string& out_help);

/// --alphabet --format --ambiguous --label-column --variable --base.
class DataOptions {
 public:
  void add_to(CLI::App& command);
  /// `model` overrides the alphabet unless one was given.
  [[nodiscard]] ReadOptions resolve(const Alphabet* model = nullptr) const;
  [[nodiscard]] bool format_given() const { return format_ != "auto"; }
  /// For a run's config.json; from_json throws nlohmann::json::exception.
  [[nodiscard]] Json to_json() const;
  void from_json(const nlohmann::json& json);

 private:
  std::string alphabet_;
  std::string format_ = "auto";
  std::string ambiguous_ = "missing";
  std::string label_column_;
  std::vector<std::string> variables_;
  std::optional<int> base_;
};

/// Data for the user: stdout, or a file that appears whole when finish() is called.
class Output {
 public:
  explicit Output(std::string path = {}) : path_(std::move(path)) {}
  void write(std::string_view text);
  void flush();
  void finish();

 private:
  std::string path_;
  std::string pending_;
};

/// A crash of a file library on a damaged file becomes its error line and code 65, any other one
/// code 70.
void answer_for_crashes();

/// One line on stderr; narration is silenced by --quiet, warnings are not.
void warn(const std::string& message);
void narrate(const CommonOptions& options, const std::string& message);

/// Says, once, what it means that a model is not trace preserving.
void warn_if_infeasible(const AnyModel& model, const std::string& path);

[[nodiscard]] std::string dump(const Json& json);

/// "HQMM, n = 2, s = 6, w = 1"
[[nodiscard]] std::string describe(const AnyModel& model);

}  // namespace hqmm::cli
