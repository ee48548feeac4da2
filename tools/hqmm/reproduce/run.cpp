// Running the cells of a reproduction: in parallel, each on one thread and each written as soon as
// it is done, so that the same command continues where an interrupted one stopped.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/splice_protocol.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "hqmm/run/cell_folder.hpp"
#include "reproduce/reproduce.hpp"
#include "support/clock.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/progress_line.hpp"
#include "support/ranks.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCellsTask = "cells";

/// One process at a time writes to a folder; the kernel lets go however the process ends.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : handle_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (handle_ >= 0 && ::flock(handle_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(handle_);
      throw fail(ErrorCode::kUsage, Where{.file = folder.string()},
                 "another hqmm is working in this folder");
    }
  }
  ~FolderLock() {
    if (handle_ >= 0) ::close(handle_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int handle_;
};

/// Cells done and the time left, by the rough cost of those to come.
class CellProgress {
 public:
  CellProgress(const CommonOptions& common, std::size_t done, std::size_t total, double cost_left)
      : line_(common), done_(done), total_(total), cost_left_(cost_left) {
    show("");
  }

  void finished(const Cell& cell) {
    const std::lock_guard lock(guard_);
    ++done_;
    cost_done_ += rough_cost(cell);
    show(describe(cell));
  }

 private:
  void show(const std::string& last) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    const std::string left =
        cost_done_ > 0.0 ? duration(gone.count() * (cost_left_ / cost_done_ - 1.0)) : "?";
    line_.show(fmt::format("{} of {} cells, {} left  {}", done_, total_, left, last));
  }

  ProgressLine line_;
  std::size_t done_;
  std::size_t total_;
  double cost_left_;  // when the run began
  double cost_done_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex guard_;
};

class CellRunner {
 public:
  CellRunner(const ReproduceOptions& options, const std::vector<Cell>& plan,
             const ReproductionData& data)
      : options_(options),
        plan_(plan),
        data_(data),
        cells_((fs::path(options.common.out) / "cells").string(),
               [](const std::string& file) {
                 warn(fmt::format("{} is damaged; this cell is done again", file));
               }),
        found_(plan.size()) {}

  /// On another rank.
  void help(Ranks& others) const {
    const auto there = [this](std::size_t k, std::string_view request) {
      Unpacker in(request);
      const auto found = run_one(in.numbers<std::size_t>().at(k), [] { return false; });
      return to_json(*found).dump();
    };
    others.help({{kCellsTask, cells_task(others, options_.common.threads, there)}});
  }

  std::vector<CellResult> run() {
    on_lost_rank(fmt::format("the same command continues in {}", options_.common.out));
    cells_.make();
    const FolderLock lock(cells_.file(""));
    load_done();
    const StopRequest stop = catch_interrupts();
    run_missing(stop);
    std::vector<CellResult> out;
    for (std::optional<CellResult>& one : found_)
      if (one) out.push_back(std::move(*one));
    if (out.size() < plan_.size()) {
      throw fail(ErrorCode::kInterrupted,
                 "interrupted: {} of {} cells are done and kept in {}; the same command continues",
                 out.size(), plan_.size(), options_.common.out);
    }
    return out;
  }

 private:
  void load_done() {
    for (std::size_t i = 0; i < plan_.size(); ++i) found_[i] = load(plan_[i]);
  }

  /// Nothing for a file that is damaged: the cell is done again.
  [[nodiscard]] std::optional<CellResult> load(const Cell& cell) const {
    std::optional<CellResult> out;
    nlohmann::json made;
    const bool found = cells_.find(name_of(cell), [&](const nlohmann::json& json) {
      out = cell_result_from_json(json);
      made = json.value("made_with", nlohmann::json());
    });
    if (!found) return {};
    if (made != nlohmann::json(made_with(options_, cell, data_))) {
      throw fail(
          ErrorCode::kUsage, Where{.file = cells_.file(name_of(cell) + ".json")},
          "this result is from other data or another version, instruction set or --time-limit: "
          "use another -o, or remove the folder");
    }
    return out;
  }

  void run_missing(const StopRequest& stop) {
    std::vector<std::size_t> missing;
    double cost = 0.0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (found_[i]) continue;
      missing.push_back(i);
      cost += rough_cost(plan_[i]);
    }
    if (missing.empty()) return;
    if (missing.size() < plan_.size())
      narrate(options_.common, fmt::format("{} of {} cells were done before",
                                           plan_.size() - missing.size(), plan_.size()));
    CellProgress progress(options_.common, plan_.size() - missing.size(), plan_.size(), cost);
    Cells cells;
    cells.count = missing.size();
    cells.threads = options_.common.threads;
    cells.stop = stop;
    cells.here = [&](std::size_t k) {
      if (auto found = run_one(missing[k], stop)) keep(missing[k], std::move(*found), progress);
    };
    cells.take = [&](std::size_t k, std::string_view bytes) {
      keep(missing[k], cell_result_from_json(nlohmann::json::parse(bytes)), progress);
    };
    hand_out(cells, ranks(), kCellsTask,
             Packer().numbers(std::span<const std::size_t>(missing)).take());
  }

  [[nodiscard]] std::optional<CellResult> run_one(std::size_t i, const StopRequest& stop) const {
    const Cell& cell = plan_[i];
    CellResult result{cell, {}};
    const double start = thread_seconds();
    if (cell.study == Study::kSplice) {
      result.outcome = run_splice_cell(
          *data_.splice, {cell.latent_dim, cell.kraus_rank, cell.method, cell.seed, cell.clean}, 1);
    } else {
      auto outcome =
          run_synthetic_cell(cell, data_.synthetic.at(cell.study), options_.time_limit, stop);
      if (!outcome) return {};
      result.outcome = std::move(*outcome);
    }
    std::visit([&](auto& outcome) { outcome.seconds = thread_seconds() - start; }, result.outcome);
    return result;
  }

  void keep(std::size_t i, CellResult result, CellProgress& progress) {
    const Cell& cell = plan_[i];
    Json json = to_json(result);
    json["made_with"] = made_with(options_, cell, data_);
    cells_.keep(name_of(cell), std::move(json));
    found_[i] = std::move(result);
    progress.finished(cell);
  }

  const ReproduceOptions& options_;
  const std::vector<Cell>& plan_;
  const ReproductionData& data_;
  CellFolder cells_;
  std::vector<std::optional<CellResult>> found_;
};

}  // namespace

void help_cells(const ReproduceOptions& options, const std::vector<Cell>& plan,
                const ReproductionData& data, Ranks& others) {
  CellRunner(options, plan, data).help(others);
}

std::vector<CellResult> run_cells(const ReproduceOptions& options, const std::vector<Cell>& plan,
                                  const ReproductionData& data) {
  return CellRunner(options, plan, data).run();
}

}  // namespace hqmm::cli
