// hqmm select DATA: trains a grid of sizes side by side, each model on one thread, ranks them by
// validation and keeps the best.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/run/session.hpp"
#include "hqmm/score/score.hpp"
#include "support/clock.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/rescue.hpp"
#include "train/data.hpp"
#include "train/options.hpp"
#include "train/progress.hpp"

namespace hqmm::cli {
namespace {

struct SelectFlags {
  TrainFlags train;
  std::string models;  // folder for every model, or nothing
};

struct Cell {
  std::shared_ptr<const Session> session;
  SessionResult found;
  std::string name;      // of its file in the folder for every model
  std::string file;      // with the folder
  double bits = 0.0;     // per validation symbol
  double seconds = 0.0;  // of one processor
  bool done = false;

  [[nodiscard]] const TrainOptions& options() const { return session->options(); }
  [[nodiscard]] const TrainResult& result() const { return found.trained; }

  /// Bits per symbol more than `best`, and the standard error of that over sequences.
  double behind = 0.0;
  std::optional<double> standard_error;
};

bool learns_hmms(const Cell& cell) { return cell.options().learner == LearnerKind::kEm; }

double rough_cost(const TrainOptions& options) {
  const auto n = static_cast<double>(options.latent_dim);
  return options.learner == LearnerKind::kEm ? n * n
                                             : n * n * n * static_cast<double>(options.kraus_rank);
}

/// Data that no run could use is found out here, before the first model.
std::vector<Cell> make_grid(const TrainFlags& flags, const SessionData& data) {
  std::vector<Cell> out;
  for (const TrainFlags::GridPoint& point : flags.grid_points()) {
    Cell cell;
    cell.name = point.name;
    cell.session = std::make_shared<const Session>(
        data, flags.cell_options(data.train->alphabet().size(), point));
    out.push_back(std::move(cell));
  }
  return out;
}

ModelFile file_of(const Cell& cell) { return {cell.result().model, cell.found.provenance}; }

void save_best(const std::string& path, const Cell& cell) {
  write_or_rescue(
      "model", [&] { write_model(path, file_of(cell)); },
      [&] { return serialize_model(file_of(cell), ModelFormat::kHdf5); });
}

/// Neither -o nor a model of the grid may take the place of the data, or of one another.
void require_own_grid_files(const SelectFlags& flags, const TrainJob& job) {
  std::vector<NamedFile> outputs{{"-o", job.out}};
  std::set<std::string> names;  // a size may be asked for twice
  for (const TrainFlags::GridPoint& point : flags.train.grid_points())
    names.insert(point.name + ".h5");
  for (const std::string& name : names) {
    if (!flags.models.empty())
      outputs.push_back({"--models", (std::filesystem::path(flags.models) / name).string()});
  }
  require_other_files(outputs, {{"DATA", job.train_path}, {"--validation", job.validation_path}});
}

class Grid {
 public:
  /// `folder`: where every model goes as soon as it is trained; empty for nowhere.
  Grid(const TrainJob& job, std::vector<Cell> cells, std::filesystem::path folder)
      : job_(job), cells_(std::move(cells)), folder_(std::move(folder)), line_(job.common) {}

  /// Trained models, the best first; those that an interrupt left out are not among them.
  std::vector<Cell> run(const StopRequest& stop) {
    // The long ones first, so that none of them is left to run alone.
    std::vector<std::size_t> order(cells_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rough_cost(cells_[a].options()) > rough_cost(cells_[b].options());
    });
    show();
    std::atomic<std::size_t> next{0};
    const auto workers = static_cast<std::size_t>(resolve_threads(job_.common.threads));
    parallel_for(workers, job_.common.threads, [&](std::size_t) {
      while (!stop()) {
        const std::size_t k = next++;
        if (k >= order.size()) return;
        train_one(cells_[order[k]], stop);
      }
    });
    line_.clear();
    return ranked();
  }

 private:
  void train_one(Cell& cell, const StopRequest& stop) {
    const double start = thread_seconds();
    SessionRequest request;
    request.hooks.stop_requested = stop;
    request.report = Report::kSelect;
    cell.found = cell.session->run(request);
    if (cell.result().status == TrainStatus::kInterrupted) return;
    cell.bits = cell.found.scores.validation.bits_per_symbol.value();
    cell.seconds = thread_seconds() - start;
    cell.done = true;
    const std::lock_guard lock(guard_);
    if (!folder_.empty()) {
      cell.file = (folder_ / (cell.name + ".h5")).string();
      write_model(cell.file, file_of(cell));
    }
    ++done_;
    show();
  }

  void show() { line_.show(fmt::format("{} of {} models trained", done_, cells_.size())); }

  std::vector<Cell> ranked() {
    std::erase_if(cells_, [](const Cell& cell) { return !cell.done; });
    std::stable_sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) {
      if (a.bits != b.bits) return a.bits < b.bits;
      return parameter_count(a.result().model) < parameter_count(b.result().model);
    });
    for (Cell& cell : cells_) compare(cell, cells_.front());
    return std::move(cells_);
  }

  static void compare(Cell& cell, const Cell& best) {
    cell.behind = cell.bits - best.bits;
    if (&cell == &best) return;
    std::vector<double> more, symbols;
    for (std::size_t i = 0; i < cell.found.scores.validation.per_sequence.size(); ++i) {
      const SequenceLikelihood& here = cell.found.scores.validation.per_sequence[i];
      const SequenceLikelihood& there = best.found.scores.validation.per_sequence[i];
      more.push_back((there.log_likelihood - here.log_likelihood) / std::numbers::ln2);
      symbols.push_back(static_cast<double>(here.scored));
    }
    cell.standard_error = weighted_mean(more, symbols).standard_error;
  }

  const TrainJob& job_;
  std::vector<Cell> cells_;
  std::filesystem::path folder_;
  std::size_t done_ = 0;
  ProgressLine line_;
  std::mutex guard_;
};

Json cell_json(const Cell& cell) {
  Json out;
  out["latent_dim"] = cell.options().latent_dim;
  out["kraus_rank"] = learns_hmms(cell) ? Json(nullptr) : Json(cell.options().kraus_rank);
  out["field"] = learns_hmms(cell) ? Json(nullptr) : Json(name_of(cell.options().field));
  out["emission"] = name_of(cell.options().emission);
  out["parameters"] = parameter_count(cell.result().model);
  out["validation_bits_per_symbol"] = number(cell.bits);
  out["behind_best"] = number(cell.behind);
  out["behind_best_standard_error"] = number(cell.standard_error);
  out["seconds"] = cell.seconds;
  out["status"] = name_of(cell.result().status);
  out["epochs_run"] = cell.result().epochs_run;
  out["best_epoch"] = cell.result().best_epoch;
  if (!cell.file.empty()) out["model"] = cell.file;
  return out;
}

Json grid_json(const TrainJob& job, const std::vector<Cell>& cells) {
  Json out;
  out["learner"] = name_of(job.options.learner);
  if (learns_hmms(cells.front())) out["emission"] = name_of(cells.front().options().emission);
  out["models"] = Json::array();
  for (const Cell& cell : cells) out["models"].push_back(cell_json(cell));
  out["model"] = job.out.empty() ? Json(nullptr) : Json(job.out);
  return out;
}

std::string grid_text(const TrainJob& job, const std::vector<Cell>& cells) {
  std::string out =
      fmt::format("{:>5} {:>4} {:>8} {:>9} {:>11} {:>12}   {:<20} {:>9}\n", "n", "w", "field",
                  "emission", "parameters", "bits/symbol", "behind the best", "seconds");
  for (const Cell& cell : cells) {
    std::string behind = &cell == &cells.front() ? "" : fmt::format("{:.5f}", cell.behind);
    if (cell.standard_error) behind += fmt::format(" ± {:.5f}", *cell.standard_error);
    out += fmt::format(
        "{:>5} {:>4} {:>8} {:>9} {:>11} {:>12.5f}   {:<20} {:>9.1f}{}\n", cell.options().latent_dim,
        learns_hmms(cell) ? "–" : fmt::format("{}", cell.options().kraus_rank),
        learns_hmms(cell) ? "–" : name_of(cell.options().field), name_of(cell.options().emission),
        parameter_count(cell.result().model), cell.bits, behind, cell.seconds,
        cell.result().status == TrainStatus::kDiverged ? "  diverged: " + cell.result().message
                                                       : "");
  }
  if (!job.out.empty()) out += fmt::format("the first is in {}\n", job.out);
  return out;
}

void make_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!std::filesystem::is_directory(path))
    throw fail(ErrorCode::kUsage, "--models {}: expected a folder, or a place to make one", path);
}

void run_select(SelectFlags& flags) {
  leave_on_interrupts();
  TrainJob job = flags.train.job();
  require_own_grid_files(flags, job);
  make_folder(flags.models);
  const SessionData data = read_train_data(job);
  std::vector<Cell> grid = make_grid(flags.train, data);
  const std::size_t wanted = grid.size();
  if (!data.how.empty()) narrate(job.common, data.how);
  const StopRequest stop = catch_interrupts();
  const std::vector<Cell> cells = Grid(job, std::move(grid), flags.models).run(stop);
  if (cells.empty()) throw fail(ErrorCode::kInterrupted, "interrupted: nothing was written");
  if (!job.out.empty()) save_best(job.out, cells.front());
  const auto require_all = [&] {
    if (cells.size() == wanted) return;
    throw fail(ErrorCode::kInterrupted, "interrupted: {} of {} models were trained", cells.size(),
               wanted);
  };
  try {
    Output output(readers_of(job.common));
    output.write(job.common.json ? dump(grid_json(job, cells)) : grid_text(job, cells));
    output.finish();
  } catch (const ClosedPipe&) {  // by the same Ctrl-C
    require_all();
    throw;
  }
  require_all();
}

}  // namespace

void add_select(Command program) {
  auto flags = std::make_shared<SelectFlags>();
  Command command =
      program.add_subcommand("select", "Train a grid of model sizes and keep the best")
          .group("Learn");
  flags->train.add_grid_to(command);
  command.add_option("--models", flags->models, "Folder to keep every model in: n8-w2.h5, …")
      .group("Output")
      .type_name("DIR");
  command.footer(
      R"(Every size is trained with the options of 'hqmm train' on a thread of its own, and ranked by its bits per
validation symbol. Parameters are what a model is free to choose: without the constraints, and without what
changes no probability. Seconds are of one processor. The standard error of the distance to the best is over
validation sequences.

Examples:
  hqmm select train.txt --validation validation.txt -n 2,4,8 -w 1,2,4 -o best.h5
  hqmm select train.txt --validation validation.txt -n 8,16 -w 2 --field complex,real --emission edge,state
  hqmm select train.txt --learner em --emission edge -n 2,4,8,16)");
  command.callback([flags] { run_select(*flags); });
}

}  // namespace hqmm::cli
