// hqmm select DATA: trains a grid of sizes side by side, each model on one thread, ranks them by
// validation and keeps the best.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/run/selection.hpp"
#include "hqmm/run/session.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/interrupts.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/rescue.hpp"
#include "support/text_table.hpp"
#include "train/data.hpp"
#include "train/options.hpp"
#include "train/progress.hpp"

namespace hqmm::cli {
namespace {

struct SelectFlags {
  TrainFlags train;
  std::string models;  // folder for every model, or nothing
};

/// Data that no run could use is found out here, before the first model.
std::vector<Candidate> make_grid(const TrainFlags& flags, const SessionData& data) {
  std::vector<Candidate> out;
  for (const GridPoint& point : flags.grid_points()) {
    out.push_back(
        make_candidate(point.name, data, flags.cell_options(data.train->alphabet().size(), point)));
  }
  return out;
}

ModelFile file_of(const Candidate& cell) { return {cell.result().model, cell.found.provenance}; }

void save_best(const std::string& path, const Candidate& cell) {
  write_or_rescue(
      "model", [&] { write_model(path, file_of(cell)); },
      [&] { return serialize_model(file_of(cell), ModelFormat::kHdf5); });
}

/// Neither -o nor a model of the grid may take the place of the data, or of one another.
void require_own_grid_files(const SelectFlags& flags, const TrainJob& job) {
  std::vector<NamedFile> outputs{{"-o", job.out}};
  std::set<std::string> names;  // a size may be asked for twice
  for (const GridPoint& point : flags.train.grid_points()) names.insert(point.name + ".h5");
  for (const std::string& name : names) {
    if (!flags.models.empty())
      outputs.push_back({"--models", (std::filesystem::path(flags.models) / name).string()});
  }
  std::vector<NamedFile> inputs;
  add_named(inputs, "DATA", job.train_paths);
  add_named(inputs, "--validation", job.validation_paths);
  require_other_files(outputs, inputs);
}

/// Where a model of the grid goes; nowhere without a folder for all of them.
std::string model_path(const std::string& folder, const Candidate& cell) {
  return folder.empty() ? "" : (std::filesystem::path(folder) / (cell.name + ".h5")).string();
}

/// Writes every model as soon as it is trained, if there is a folder for them.
std::vector<Candidate> run_grid(const TrainJob& job, std::vector<Candidate> grid,
                                const std::string& folder, const StopRequest& stop) {
  ProgressLine line(job.common);
  const std::size_t all = grid.size();
  std::size_t done = 0;
  const auto show = [&] { line.show(fmt::format("{} of {} models trained", done, all)); };
  show();
  SelectionHooks hooks;
  hooks.stop_requested = stop;
  hooks.on_trained = [&](const Candidate& cell) {
    if (!folder.empty()) write_model(model_path(folder, cell), file_of(cell));
    ++done;
    show();
  };
  std::vector<Candidate> out = run_selection(std::move(grid), job.common.threads, hooks);
  line.clear();
  return out;
}

Json cell_json(const Candidate& cell, const std::string& folder) {
  Json out = candidate_json(cell);
  if (!folder.empty()) out["model"] = model_path(folder, cell);
  return out;
}

Json grid_json(const TrainJob& job, const std::string& folder,
               const std::vector<Candidate>& cells) {
  Json out;
  out["learner"] = name_of(job.options.learner);
  if (cells.front().of_hmms()) out["emission"] = name_of(cells.front().options().emission);
  out["models"] = Json::array();
  for (const Candidate& cell : cells) out["models"].push_back(cell_json(cell, folder));
  out["model"] = job.out.empty() ? Json(nullptr) : Json(job.out);
  return out;
}

Cells grid_cells(const std::string& folder, const std::vector<Candidate>& cells) {
  Cells out{{"n", "w", "field", "emission", "parameters", "bits_per_symbol", "behind",
             "standard_error", "seconds", "status", "model"}};
  for (const Candidate& cell : cells) {
    const bool hmm = cell.of_hmms();
    const std::string path = model_path(folder, cell);
    out.push_back({std::to_string(cell.options().latent_dim),
                   hmm ? "NA" : std::to_string(cell.options().kraus_rank),
                   hmm ? "NA" : std::string(name_of(cell.options().field)),
                   std::string(name_of(cell.options().emission)),
                   std::to_string(parameter_count(cell.result().model)), exact(cell.bits),
                   exact(cell.behind), exact(cell.standard_error), exact(cell.seconds),
                   std::string(name_of(cell.result().status)), path.empty() ? "NA" : path});
  }
  return out;
}

std::string grid_text(const TrainJob& job, const std::vector<Candidate>& cells) {
  std::string out =
      fmt::format("{:>5} {:>4} {:>8} {:>9} {:>11} {:>12}   {:<20} {:>9}\n", "n", "w", "field",
                  "emission", "parameters", "bits/symbol", "behind the best", "seconds");
  for (const Candidate& cell : cells) {
    std::string behind = &cell == &cells.front() ? "" : fmt::format("{:.5f}", cell.behind);
    if (cell.standard_error) behind += fmt::format(" ± {:.5f}", *cell.standard_error);
    out += fmt::format(
        "{:>5} {:>4} {:>8} {:>9} {:>11} {:>12.5f}   {:<20} {:>9.1f}{}\n", cell.options().latent_dim,
        cell.of_hmms() ? "–" : fmt::format("{}", cell.options().kraus_rank),
        cell.of_hmms() ? "–" : name_of(cell.options().field), name_of(cell.options().emission),
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
  std::vector<Candidate> grid = make_grid(flags.train, data);
  const std::size_t wanted = grid.size();
  if (!data.how.empty()) narrate(job.common, data.how);
  const StopRequest stop = catch_interrupts();
  const std::vector<Candidate> cells = run_grid(job, std::move(grid), flags.models, stop);
  if (cells.empty()) throw fail(ErrorCode::kInterrupted, "interrupted: nothing was written");
  if (!job.out.empty()) save_best(job.out, cells.front());
  const auto require_all = [&] {
    if (cells.size() == wanted) return;
    throw fail(ErrorCode::kInterrupted, "interrupted: {} of {} models were trained", cells.size(),
               wanted);
  };
  try {
    Output output(readers_of(job.common));
    output.write(job.common.json  ? dump(grid_json(job, flags.models, cells))
                 : job.common.tsv ? tsv(grid_cells(flags.models, cells))
                                  : grid_text(job, cells));
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
