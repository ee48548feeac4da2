// What every command shares: the common flags, the data-reading flags and narration.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/command_line.hpp"
#include "support/internals.hpp"

namespace hqmm {
class Alphabet;
struct ReadOptions;
}  // namespace hqmm

namespace hqmm::cli {

using Json = nlohmann::ordered_json;

// One function per command: adds it to the program, with what to run when it is chosen.
void add_train(Command program);
void add_select(Command program);
void add_classify(Command program);
void add_score(Command program);
void add_baseline(Command program);
void add_predict(Command program);
void add_scan(Command program);
void add_sample(Command program);
void add_inspect(Command program);
void add_report(Command program);
void add_convert(Command program);
void add_export(Command program);
void add_generate(Command program);
void add_data(Command program);
void add_reproduce(Command program);
void add_help(Command program);  // after all others, whose names it knows
void add_completion(Command program);
void add_manual(Command program);  // hidden: the build calls it
/// All of them, in the order of the help.
void add_commands(Command program);

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;
  bool quiet = false;
  bool json = false;
  bool tsv = false;
  std::string out;
};
/// --seed --threads --quiet --json -o/--out, in one group of the help.
void add_common(Command command, CommonOptions& options, const std::string& out_help);

/// --tsv, for a command whose result is a table; after add_common().
void add_tsv(Command command, CommonOptions& options, const std::string& help);

/// --alphabet --format --ambiguous --label-column --variable --base --max-ratio.
class DataOptions {
 public:
  /// A command whose --format is that of its output uses another flag for the format of data.
  void add_to(Command command, const std::string& format_flag = "--format");
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
  double max_ratio_ = 500.0;  // where data comes from, not what it is: no part of a run's config
};

/// One line on stderr; narration is silenced by --quiet, warnings are not.
void warn(const std::string& message);
void narrate(const CommonOptions& options, const std::string& message);

}  // namespace hqmm::cli
