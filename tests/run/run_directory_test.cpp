// Run directories: what is kept of a run, what a kill may leave behind, and what is refused.
#include "hqmm/run/run_directory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hqmm/model/synthetic.hpp"
#include "hqmm/run/train_config.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::contents;
using testing::expect_error;
using testing::TemporaryFolder;

nlohmann::ordered_json config_with(double x) {
  return {{"options", to_json(TrainOptions{})}, {"x", x}};
}
std::string some_config() { return config_with(0.1).dump(); }

EpochRecord record_of(std::size_t restart, std::size_t epoch) {
  EpochRecord record;
  record.restart = restart;
  record.epoch = epoch;
  record.validation.log_likelihood = -12.5;
  return record;
}

Checkpoint checkpoint_of(std::size_t restart, std::size_t epochs_done) {
  Checkpoint out;
  RestartState& state = out.live.emplace_back();
  state.summary.restart = restart;
  state.summary.epochs_run = epochs_done;
  state.summary.best_validation = -std::numeric_limits<double>::infinity();
  state.learner["parameters"] = {{0.1, -0.2}, {1e-300, 3.0}};
  out.best = synthetic_hqmm();
  for (std::size_t earlier = 0; earlier < restart; ++earlier) {
    out.finished.emplace_back();
    out.finished.back().restart = earlier;
    out.finished.back().epochs_run = 2;
  }
  out.seconds = 1.5;
  return out;
}

/// The (restart, epoch) of every line of the history.
std::vector<std::pair<int, int>> history_of(const std::string& run) {
  std::vector<std::pair<int, int>> out;
  std::istringstream lines(contents(std::filesystem::path(run) / "history.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    out.emplace_back(json.at("restart"), json.at("epoch"));
  }
  return out;
}

using Epochs = std::vector<std::pair<int, int>>;

TEST(RunDirectory, KeepsConfigHistoryAndCheckpoint) {
  const TemporaryFolder folder;
  const std::string path = folder.file("runs/first");  // neither exists yet
  EXPECT_FALSE(is_run_directory(path));
  RunDirectory run = RunDirectory::create(path, some_config());
  EXPECT_TRUE(is_run_directory(path));
  run.append(record_of(0, 0));
  run.append(record_of(0, 1));
  run.save(checkpoint_of(0, 1));

  RunDirectory again = RunDirectory::open(path);
  const auto config = nlohmann::json::parse(again.config());
  EXPECT_EQ(config, nlohmann::json(config_with(0.1)));
  EXPECT_EQ(to_json(train_options_from_json(config.at("options"))), to_json(TrainOptions{}));
  const std::optional<Checkpoint> found = again.checkpoint();
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->live.size(), 1U);
  const RestartState& state = found->live.front();
  EXPECT_EQ(state.summary.epochs_run, 1U);
  EXPECT_EQ(state.learner, checkpoint_of(0, 1).live.front().learner);
  EXPECT_EQ(found->seconds, 1.5);
  EXPECT_EQ(state.summary.best_validation, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(history_of(path), (Epochs{{0, 0}, {0, 1}}));
}

TEST(RunDirectory, TheHistoryBeyondTheCheckpointIsDropped) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  for (const auto& [restart, epoch] : Epochs{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}})
    run.append(record_of(static_cast<std::size_t>(restart), static_cast<std::size_t>(epoch)));
  run.save(checkpoint_of(1, 1));
  EXPECT_TRUE(RunDirectory::open(folder.file("run")).checkpoint().has_value());
  EXPECT_EQ(history_of(folder.file("run")), (Epochs{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}}));
}

TEST(RunDirectory, ALineCutShortByAKillIsDropped) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  run.append(record_of(0, 0));
  run.append(record_of(0, 1));
  run.save(checkpoint_of(0, 1));
  std::ofstream(folder.file("run/history.jsonl"), std::ios::app)
      << "not json\n[1]\n{\"restart\":\"x\",\"epoch\":1}\n{\"restart\":0,\"epo";
  RunDirectory again = RunDirectory::open(folder.file("run"));
  EXPECT_TRUE(again.checkpoint().has_value());
  EXPECT_EQ(history_of(folder.file("run")), (Epochs{{0, 0}, {0, 1}}));
  again.append(record_of(0, 2));
  EXPECT_EQ(history_of(folder.file("run")), (Epochs{{0, 0}, {0, 1}, {0, 2}}));
}

TEST(RunDirectory, WithoutACheckpointTheRunBeginsAnew) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  run.append(record_of(0, 0));
  EXPECT_FALSE(RunDirectory::open(folder.file("run")).checkpoint().has_value());
  EXPECT_FALSE(std::filesystem::exists(folder.file("run/history.jsonl")));
}

TEST(RunDirectory, FilesOfSomethingElseAreNotTouched) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write("notes.txt", "mine"));
  static_cast<void>(folder.write("checkpoint.h5", "old"));
  expect_error(ErrorCode::kUsage, "holds a checkpoint.h5 that belongs to something else",
               [&] { return RunDirectory::create(folder.path().string(), some_config()); });
  EXPECT_EQ(contents(folder.file("checkpoint.h5")), "old");
  std::filesystem::remove(folder.file("checkpoint.h5"));
  EXPECT_FALSE(
      RunDirectory::create(folder.path().string(), some_config()).checkpoint().has_value());
  EXPECT_EQ(contents(folder.file("notes.txt")), "mine");
}

TEST(RunDirectory, AnExistingRunIsNotOverwritten) {
  const TemporaryFolder folder;
  static_cast<void>(RunDirectory::create(folder.file("run"), some_config()));
  const std::string before = contents(folder.file("run/config.json"));
  expect_error(ErrorCode::kUsage, "holds a run already",
               [&] { return RunDirectory::create(folder.file("run"), R"({"other": 1})"); });
  EXPECT_EQ(contents(folder.file("run/config.json")), before);
}

TEST(RunDirectory, AFolderThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "x");
  for (const std::string& path : {file, file + "/run", folder.file(std::string(300, 'x'))}) {
    expect_error(ErrorCode::kCannotWrite, "cannot be made",
                 [&] { return RunDirectory::create(path, some_config()); });
  }
}

TEST(RunDirectory, WithoutOrWithABadConfigIsAnError) {
  const TemporaryFolder folder;
  for (const std::string& path :
       {folder.path().string(), folder.file("nowhere"), folder.file(std::string(300, 'x'))}) {
    expect_error(ErrorCode::kNoInput, "is not a run directory",
                 [&] { return RunDirectory::open(path); });
  }
  for (const char* bad : {"", "{\"options\": ", "[1, 2]", "nonsense"}) {
    static_cast<void>(folder.write("config.json", bad));
    expect_error(ErrorCode::kBadData, "config.json: is not valid JSON",
                 [&] { return RunDirectory::open(folder.path().string()); });
  }
}

TEST(RunDirectory, ADamagedCheckpointOrOneOfAnotherRunIsRefused) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  run.append(record_of(0, 1));
  run.save(checkpoint_of(0, 1));
  RunDirectory other = RunDirectory::create(folder.file("other"), config_with(0.2).dump());
  std::filesystem::copy_file(run.file("checkpoint.h5"), other.file("checkpoint.h5"));
  expect_error(ErrorCode::kBadData, "belongs to another run", [&] { return other.checkpoint(); });

  const std::string whole = contents(run.file("checkpoint.h5"));
  std::filesystem::resize_file(run.file("checkpoint.h5"), whole.size() / 2);
  expect_error(ErrorCode::kBadData, "the checkpoint is damaged", [&] { return run.checkpoint(); });
  EXPECT_EQ(history_of(folder.file("run")), (Epochs{{0, 1}})) << "nothing is lost by asking";
}

TEST(RunDirectory, AHistoryThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  std::filesystem::create_directory(run.file("history.jsonl"));
  expect_error(ErrorCode::kCannotWrite, "history.jsonl: cannot be written",
               [&] { run.append(record_of(0, 0)); });
  std::filesystem::remove_all(folder.file("run"));
  expect_error(ErrorCode::kCannotWrite, "checkpoint.h5", [&] { run.save(checkpoint_of(0, 1)); });
}

/// Where writing ends at a limit, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    struct rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  struct rlimit before_ {};
};

TEST(RunDirectory, ALineThatDoesNotFitLeavesNothing) {
  const TemporaryFolder folder;
  RunDirectory run = RunDirectory::create(folder.file("run"), some_config());
  run.append(record_of(0, 0));
  const std::string before = contents(run.file("history.jsonl"));
  {
    const FileSizeLimit limit(before.size() + 10);
    expect_error(ErrorCode::kCannotWrite, "history.jsonl: cannot be written: File too large",
                 [&] { run.append(record_of(0, 1)); });
    expect_error(ErrorCode::kCannotWrite, "checkpoint.h5: cannot be written: File too large",
                 [&] { run.save(checkpoint_of(0, 1)); });
  }
  EXPECT_EQ(contents(run.file("history.jsonl")), before);
  run.append(record_of(0, 1));
  EXPECT_EQ(history_of(folder.file("run")), (Epochs{{0, 0}, {0, 1}}));
}

TEST(RunDirectory, FiguresThatAreNotFiniteAreNullInTheHistory) {
  EpochRecord record = record_of(0, 3);
  record.validation.log_likelihood = -std::numeric_limits<double>::infinity();
  const auto json = to_json(record);
  EXPECT_TRUE(json.at("validation").at("log_likelihood").is_null());
  EXPECT_TRUE(nlohmann::json::accept(json.dump()));
}

TEST(TrainConfig, OptionsReadBackAsTheyWere) {
  TrainOptions options = default_options(LearnerKind::kCosm);
  options.retraction = RetractionKind::kLiteral;
  options.schedule = ScheduleKind::kGeometric;
  options.initial_state = InitialStateKind::kPure;
  options.engine = EngineKind::kSuperoperator;
  options.step_size = 0.1 + 0.2;  // not a short decimal
  options.burn_in = 17;
  options.chunk_length = 0;
  options.seed = 0xFFFFFFFFFFFFFFFF;
  const auto json = nlohmann::json::parse(to_json(options).dump());
  const TrainOptions back = train_options_from_json(json);
  EXPECT_EQ(to_json(back), to_json(options));
  EXPECT_EQ(back.step_size, options.step_size);
  EXPECT_EQ(back.seed, options.seed);
  EXPECT_EQ(back.engine, EngineKind::kSuperoperator);
  EXPECT_EQ(back.burn_in, 17U);
  EXPECT_EQ(back.chunk_length, 0U);
  EXPECT_FALSE(back.validation_burn_in.has_value());
}

TEST(TrainConfig, ABadValueNamesItsKey) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json json = to_json(TrainOptions{});
    json[key] = value;
    expect_error(ErrorCode::kBadData, std::string("'") + key + "'",
                 [&] { return train_options_from_json(json); });
  };
  refused("epochs", -1);
  refused("epochs", 2.5);
  refused("epochs", "many");
  refused("burn_in", -3);
  refused("burn_in", "some");
  refused("step_size", "0.1");
  refused("step_size", nullptr);
  refused("learner", "adam");
  refused("learner", 3);
  refused("engine", "turbo");
  refused("gradient_through_burn_in", 1);
  const nlohmann::json whole = to_json(TrainOptions{});
  for (const auto& [key, value] : whole.items()) {
    if (key == "device") continue;  // runs of before there was a choice have none
    nlohmann::json json = whole;
    json.erase(key);
    expect_error(ErrorCode::kBadData, "'" + key + "'",
                 [&] { return train_options_from_json(json); });
  }
  expect_error(ErrorCode::kBadData, "'learner'", [] { return train_options_from_json(nullptr); });
}

}  // namespace
}  // namespace hqmm::detail
