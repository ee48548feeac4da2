// The run directories of `hqmm classify fit` and `cross-validate`.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/run/active_run.hpp"
#include "hqmm/run/fold_cells.hpp"
#include "hqmm/run/train_config.hpp"
#include "hqmm/version.hpp"
#include "support/command.hpp"
#include "support/output.hpp"
#include "support/ranks.hpp"
#include "support/run_config.hpp"

namespace hqmm::cli {
namespace {

Json settings_json(const std::vector<ClassifierSetting>& settings) {
  Json out = Json::array();
  for (const ClassifierSetting& setting : settings)
    out.push_back({{"setting", setting.text}, {"options", to_json(setting.options)}});
  return out;
}

}  // namespace

void ClassifyRun::add_to(Command command, const std::string& name, const std::string& result) {
  command_ = command;
  name_ = name;
  add_run_folder(command, run_path_, "Folder for config.json and, in cells/, every finished part");
  add_resume_folder(command, resume_path_,
                    "Resume the run in this folder; no other option is needed" + result);
}

void ClassifyRun::open(const std::set<std::string>& with_resume,
                       const std::function<void(const nlohmann::json&)>& take) {
  if (resume_path_.empty()) return;
  require_only(command_, with_resume);
  if (!is_other_rank()) run_ = std::make_unique<ActiveRun>(resume_path_);
  if (run_) on_lost_rank(after_interrupt({}));
  const RunDirectory directory = run_ ? run_->directory() : RunDirectory::open(resume_path_);
  read_config(directory, fmt::format("a run of 'hqmm {}'", name_),
              [&](const nlohmann::json& config) {
                if (config.at("command") != name_)
                  throw fail(ErrorCode::kBadData, "describes a run of 'hqmm {}'",
                             printable(config.at("command").get<std::string>()));
                config.at("data_hash").get_to(expected_hash_);
                config.at("simd").get_to(expected_simd_);
                config.at("out").get_to(began_with_);
                settings_ = config.at("settings").dump();
                take(config);
              });
}

void ClassifyRun::begin(const Json& config, const SequenceSet& data, const LabelledFiles& files,
                        const std::vector<ClassifierSetting>& settings,
                        const CommonOptions& common) {
  if (!given()) return;
  const Json of_settings = settings_json(settings);
  if (run_) {
    require_unchanged(files.shown(), hash_text(data), expected_hash_);
    if (nlohmann::json::parse(settings_) != nlohmann::json(of_settings))
      throw fail(ErrorCode::kBadData, {run_->directory().file("config.json"), {}, {}, {}, {}},
                 "the settings are not those that the run began with: a position map has changed, "
                 "or another version chooses others");
    warn_of_other_instructions(expected_simd_);
  } else {
    Json whole;
    whole["command"] = name_;
    whole["version"] = HQMM_VERSION;
    whole["simd"] = simd_target();
    whole["data_hash"] = hash_text(data);
    whole["out"] = utf8_path(absolute_path(common.out));
    whole.update(config);
    whole["settings"] = of_settings;
    run_ = std::make_unique<ActiveRun>(run_path_, whole.dump());
  }
  on_lost_rank(after_interrupt(common));
  run_->mark_begun();
  cells_ = std::make_unique<FoldCells>(run_->directory(), [](const std::string& file) {
    warn(fmt::format("{} is damaged; this part is done again", file));
  });
  if (cells_->found() > 0)
    narrate(common, fmt::format("{} parts were done before", cells_->found()));
}

std::string ClassifyRun::file(const std::string& name) const {
  return (std::filesystem::path(folder()) / name).string();
}

CrossValidationHooks ClassifyRun::with_cells(CrossValidationHooks hooks) {
  return cells_ ? cells_->with_cells(std::move(hooks)) : hooks;
}

ClassifierHooks ClassifyRun::with_members(ClassifierHooks hooks) {
  return cells_ ? cells_->with_members(std::move(hooks)) : hooks;
}

double ClassifyRun::seconds(double here) const { return cells_ ? cells_->seconds() : here; }

std::string ClassifyRun::after_interrupt(const CommonOptions& common) const {
  return run_ ? how_to_go_on(name_, folder(), common.out) : "nothing was written";
}

ClassifyRun::ClassifyRun() = default;
ClassifyRun::~ClassifyRun() = default;

}  // namespace hqmm::cli
