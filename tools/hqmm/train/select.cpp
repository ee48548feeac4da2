// hqmm select DATA: trains a grid of sizes side by side, each model on one thread, ranks them by
// validation and keeps the best.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/recipes.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/run/active_run.hpp"
#include "hqmm/run/selection.hpp"
#include "hqmm/run/session.hpp"
#include "hqmm/run/train_config.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/ranks.hpp"
#include "support/rescue.hpp"
#include "support/run_config.hpp"
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

/// A model of the grid before anything is known of the data.
struct GridCell {
  std::string name;
  TrainOptions options;
};

/// A selection: what is asked for, or what a run says that was.
struct SelectJob {
  TrainJob train;
  std::vector<GridCell> cells;
  std::string models;
  std::unique_ptr<ActiveRun> run;

  [[nodiscard]] std::string how_to_go_on() const {
    return cli::how_to_go_on("select", train.run_path, train.common.out);
  }
};

Json cells_json(const std::vector<GridCell>& cells) {
  Json out = Json::array();
  for (const GridCell& cell : cells)
    out.push_back({{"name", cell.name}, {"options", to_json(cell.options)}});
  return out;
}

/// Names become those of files: a folder from someone else must not choose them.
GridCell cell_from_json(const nlohmann::json& json) {
  GridCell out{json.at("name").get<std::string>(), train_options_from_json(json.at("options"))};
  const bool plain =
      !out.name.empty() &&
      out.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!plain) throw fail(ErrorCode::kBadData, "'{}' is not a cell", printable(out.name));
  out.options.threads = 1;
  require_usable_elsewhere(out.options);
  return out;
}

std::vector<GridCell> grid_cells(const TrainFlags& flags, std::size_t alphabet_size) {
  std::vector<GridCell> out;
  for (const GridPoint& point : flags.grid_points())
    out.push_back({point.name, flags.cell_options(alphabet_size, point)});
  return out;
}

/// Data that no run could use is found out here, before the first model.
std::vector<Candidate> make_grid(const SelectJob& job, const SessionData& data) {
  std::vector<Candidate> out;
  for (const GridCell& cell : job.cells)
    out.push_back(make_candidate(cell.name, data, cell.options));
  return out;
}

/// A run of its own for every model; config.json of each is that of a training.
void give_runs(const SelectJob& job, const Json& config, std::vector<Candidate>& grid) {
  std::map<std::string, int> seen;  // a size may be asked for twice
  for (Candidate& cell : grid) {
    const int before = seen[cell.name]++;
    const std::string name = before == 0 ? cell.name : fmt::format("{}-{}", cell.name, before);
    cell.run_path = (*job.run)->file("cells/" + name);
    Json own = config;
    own["out"] = "";
    own["options"] = to_json(cell.options());
    cell.run_config = own.dump();
  }
}

/// Begins the run, or resumes it.
void open_run(SelectJob& job, const SessionData& data, std::vector<Candidate>& grid) {
  if (job.train.run_path.empty()) return;
  Json config = job.train.config(hash_text(*data.train), hash_text(*data.validation));
  if (!job.run) {
    Json whole = config;
    whole["command"] = "select";
    for (const char* key : {"warm_start", "stationarity", "options"}) whole.erase(key);
    whole["cells"] = cells_json(job.cells);
    job.run = std::make_unique<ActiveRun>(job.train.run_path, whole.dump());
  }
  job.run->mark_begun();
  job.run->remove("summary.json");  // of an end that was not the last
  give_runs(job, config, grid);
}

ModelFile file_of(const Candidate& cell) { return {cell.result().model, cell.found.provenance}; }

void save_best(const std::string& path, const Candidate& cell) {
  write_or_rescue(
      "model", [&] { write_model(path, file_of(cell)); },
      [&] { return serialize_model(file_of(cell), ModelFormat::kHdf5); });
}

/// Neither -o nor a model of the grid may take the place of the data, or of one another.
void require_own_grid_files(const SelectJob& job) {
  std::vector<NamedFile> outputs{{"-o", job.train.out}};
  std::set<std::string> names;  // a size may be asked for twice
  for (const GridCell& cell : job.cells) names.insert(cell.name + ".h5");
  for (const std::string& name : names) {
    if (!job.models.empty())
      outputs.push_back({"--models", (std::filesystem::path(job.models) / name).string()});
  }
  std::vector<NamedFile> inputs;
  add_named(inputs, "DATA", job.train.train_paths);
  add_named(inputs, "--validation", job.train.validation_paths);
  for (NamedFile& one : files_of_run(job.train.run_path)) outputs.push_back(std::move(one));
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
  hooks.ranks = ranks();
  hooks.on_trained = [&](const Candidate& cell) {
    if (!folder.empty()) write_model(model_path(folder, cell), file_of(cell));
    ++done;
    show();
  };
  std::vector<Candidate> out = run_selection(std::move(grid), job.common.threads, hooks);
  line.clear();
  return out;
}

Json candidate_row(const Candidate& cell, const std::string& folder) {
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
  for (const Candidate& cell : cells) out["models"].push_back(candidate_row(cell, folder));
  out["model"] = job.out.empty() ? Json(nullptr) : Json(job.out);
  return out;
}

Cells exact_cells(const std::string& folder, const std::vector<Candidate>& cells) {
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

SelectJob new_job(SelectFlags& flags) {
  SelectJob job{flags.train.job(), grid_cells(flags.train, 0), flags.models, {}};
  return job;
}

SelectJob resumed_job(const SelectFlags& flags) {
  SelectJob job;
  if (!is_other_rank()) job.run = std::make_unique<ActiveRun>(flags.train.resume_path());
  job.models = flags.models;
  const RunDirectory run =
      job.run ? job.run->directory() : RunDirectory::open(flags.train.resume_path());
  job.train = flags.train.resume_grid(run, [&](const nlohmann::json& config) {
    for (const nlohmann::json& cell : config.at("cells")) job.cells.push_back(cell_from_json(cell));
    if (job.cells.empty()) throw fail(ErrorCode::kBadData, "has no cells");
  });
  for (GridCell& cell : job.cells) cell.options.memory = flags.train.memory();
  job.train.options = job.cells.front().options;  // the learner, and the seed of what is held out
  return job;
}

void require_all(const SelectJob& job, std::size_t trained) {
  if (trained == job.cells.size()) return;
  throw fail(ErrorCode::kInterrupted, "interrupted: {} of {} models were trained{}", trained,
             job.cells.size(), job.run ? "; " + job.how_to_go_on() : "");
}

void show_grid(const SelectJob& job, const std::vector<Candidate>& cells) {
  Output output(readers_of(job.train.common));
  output.write(job.train.common.json  ? dump(grid_json(job.train, job.models, cells))
               : job.train.common.tsv ? tsv(exact_cells(job.models, cells))
                                      : grid_text(job.train, cells));
  output.finish();
}

void run_select(SelectFlags& flags) {
  leave_on_interrupts();
  Ranks* const others = ranks();
  const bool going_on = !flags.train.resume_path().empty();
  SelectJob job = going_on ? resumed_job(flags) : new_job(flags);
  require_own_grid_files(job);
  if (others == nullptr || others->leads()) make_folder(job.models);
  if (!job.train.run_path.empty()) on_lost_rank(job.how_to_go_on());
  const SessionData data = read_train_data(job.train);
  warn_of_other_instructions(job.train.expected_simd);
  if (!going_on) job.cells = grid_cells(flags.train, data.train->alphabet().size());
  std::vector<Candidate> grid = make_grid(job, data);
  if (others != nullptr && !others->leads()) {
    help_selection(*others, grid, job.train.common.threads);
    return;
  }
  open_run(job, data, grid);
  tell_where_the_result_goes(job.train.common, "best model", job.train.out, job.train.began_with);
  if (!data.how.empty()) narrate(job.train.common, data.how);
  const StopRequest stop = catch_interrupts();
  const std::vector<Candidate> cells = run_grid(job.train, std::move(grid), job.models, stop);
  if (cells.empty()) {
    throw fail(ErrorCode::kInterrupted, "interrupted: {}",
               job.run ? job.how_to_go_on() : "nothing was written");
  }
  warn_if_beyond(flags.train.memory());
  if (!job.train.out.empty()) save_best(job.train.out, cells.front());
  if (job.run && cells.size() == job.cells.size())
    write_file((*job.run)->file("summary.json"), dump(grid_json(job.train, job.models, cells)));
  try {
    show_grid(job, cells);
  } catch (const ClosedPipe&) {  // by the same Ctrl-C
    require_all(job, cells.size());
    throw;
  }
  require_all(job, cells.size());
}

}  // namespace

void add_select(Command program) {
  auto flags = std::make_shared<SelectFlags>();
  Command command =
      program.add_subcommand("select", "Train a grid of model sizes and keep the best")
          .group("Learn");
  flags->train.add_grid_to(command);
  command.add_option("--models", flags->models, "Folder for all models: n8-w2.h5, …")
      .group("Output")
      .type_name("DIR");
  command.footer(
      R"(Every size is trained on one thread with the options of 'hqmm train', and ranked by its bits per
validation symbol. Parameters are free parameters: constrained ones are not counted, nor are those that do not
change any probability. Seconds are of one processor. The standard error of the distance to the best is over
validation sequences.

With --run every model has its own run in DIR/cells, like those of 'hqmm train --run'. After an interrupt,
a kill or a full disk, 'hqmm select --resume DIR' trains the missing models, resumes unfinished ones from
their last epoch, and ends with the same bytes as an uninterrupted selection.

Examples:
  hqmm select train.txt --validation validation.txt -n 2,4,8 -w 1,2,4 -o best.h5
  hqmm select train.txt -n 2,4,8,16 --run runs/grid
  hqmm select --resume runs/grid
  hqmm select train.txt --validation validation.txt -n 8,16 -w 2 --field complex,real --emission edge,state
  hqmm select train.txt --learner em --emission edge -n 2,4,8,16)");
  command.callback([flags] { run_select(*flags); });
}

}  // namespace hqmm::cli
