#include "hqmm/run/selection.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/run/active_run.hpp"
#include "hqmm/run/selection_packing.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kModelsTask = "cells models";

/// Processor time of the calling thread: other work on the machine adds nothing to it.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double rough_cost(const TrainOptions& options) {
  const auto n = static_cast<double>(options.latent_dim);
  return options.learner == LearnerKind::kEm ? n * n
                                             : n * n * n * static_cast<double>(options.kraus_rank);
}

/// The long ones first, so that none of them is left to run alone.
std::vector<std::size_t> order_of(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> out(candidates.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return rough_cost(candidates[a].options()) > rough_cost(candidates[b].options());
  });
  return out;
}

/// Begins a run, or opens it to resume.
void open_run(const Candidate& candidate, std::optional<ActiveRun>& run) {
  require_no_link(candidate.run_path);
  if (is_run_directory(candidate.run_path)) {
    run.emplace(candidate.run_path);
  } else {
    run.emplace(candidate.run_path, candidate.run_config);
  }
}

void train_one(Candidate& candidate, const StopRequest& stop) {
  const double start = processor_seconds();
  std::optional<ActiveRun> run;
  SessionRequest request;
  if (!candidate.run_path.empty()) {
    open_run(candidate, run);
    request.run = &*run;
    request.resume = true;  // with a run that has just begun: from its beginning
  }
  request.hooks.stop_requested = stop;
  request.report = Report::kSelect;
  candidate.found = candidate.session->run(request);
  if (candidate.result().status == TrainStatus::kInterrupted) return;
  candidate.bits = candidate.found.scores.validation.bits_per_symbol.value();
  // Of a run: since it began, by the clock of the one thread that it has.
  candidate.seconds = run ? candidate.result().seconds : processor_seconds() - start;
  candidate.done = true;
}

/// Whether there is a run to resume.
bool has_begun(const Candidate& candidate) {
  return !candidate.run_path.empty() && is_run_directory(candidate.run_path);
}

/// On another rank: without a run directory, which rank 0 keeps.
void train_alone(Candidate& candidate, std::vector<EpochRecord>& history) {
  const double start = processor_seconds();
  SessionRequest request;
  request.report = Report::kSelect;
  request.hooks.on_epoch = [&](Stage, const EpochRecord& record) { history.push_back(record); };
  candidate.found = candidate.session->run(request);
  candidate.bits = candidate.found.scores.validation.bits_per_symbol.value();
  candidate.seconds = processor_seconds() - start;
  candidate.done = true;
}

/// What another rank has trained; its run is kept as if it had been here.
void take_trained(std::string_view bytes, Candidate& candidate) {
  const std::vector<EpochRecord> history = unpack_trained(bytes, candidate);
  if (candidate.run_path.empty()) return;
  std::optional<ActiveRun> run;
  open_run(candidate, run);
  run->mark_begun();
  for (const EpochRecord& record : history) (*run)->append(record);
  const TrainResult& result = candidate.result();
  (*run)->save({{}, result.restarts, result.model, result.best_restart, result.seconds});
  candidate.seconds = result.seconds;
}

void compare(Candidate& candidate, const Candidate& best) {
  candidate.behind = candidate.bits - best.bits;
  if (&candidate == &best) return;
  std::vector<double> more, symbols;
  for (std::size_t i = 0; i < candidate.found.scores.validation.per_sequence.size(); ++i) {
    const SequenceLikelihood& here = candidate.found.scores.validation.per_sequence[i];
    const SequenceLikelihood& there = best.found.scores.validation.per_sequence[i];
    more.push_back((there.log_likelihood - here.log_likelihood) / std::numbers::ln2);
    symbols.push_back(static_cast<double>(here.scored));
  }
  candidate.standard_error = weighted_mean(more, symbols).standard_error;
}

void rank(std::vector<Candidate>& candidates) {
  std::erase_if(candidates, [](const Candidate& candidate) { return !candidate.done; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (a.bits != b.bits) return a.bits < b.bits;
                     return parameter_count(a.result().model) < parameter_count(b.result().model);
                   });
  for (Candidate& candidate : candidates) compare(candidate, candidates.front());
}

}  // namespace

std::vector<GridPoint> grid_points(LearnerKind learner, const GridAxes& axes) {
  const bool hmms = learner == LearnerKind::kEm;
  if (hmms && !axes.fields.empty())
    throw fail(ErrorCode::kUsage, "{} applies to HQMMs, but em learns HMMs", option("field"));
  const auto or_own = [](const std::vector<std::string>& words) {
    return words.empty() ? std::vector<std::string>{""} : words;
  };
  const auto kraus_ranks = hmms ? std::vector<Index>{axes.kraus_ranks.front()} : axes.kraus_ranks;
  std::vector<GridPoint> out;
  for (const Index n : axes.latent_dims) {
    for (const Index w : kraus_ranks) {
      for (const std::string& field : or_own(axes.fields)) {
        for (const std::string& emission : or_own(axes.emissions)) {
          std::string name = hmms ? fmt::format("n{}", n) : fmt::format("n{}-w{}", n, w);
          if (axes.fields.size() > 1) name += "-" + field;
          if (axes.emissions.size() > 1) name += "-" + emission;
          out.push_back({n, w, field, emission, std::move(name)});
        }
      }
    }
  }
  return out;
}

void put_point(const GridPoint& point, TrainOptions& options) {
  options.latent_dim = point.n;
  options.kraus_rank = point.w;
  GivenOptions structure;
  if (!point.field.empty()) structure["field"] = point.field;
  if (!point.emission.empty()) structure["emission"] = point.emission;
  set_options(train_option_table(), options, structure);
}

Candidate make_candidate(std::string name, const SessionData& data, const TrainOptions& options) {
  Candidate out;
  out.name = std::move(name);
  out.session = std::make_shared<const Session>(data, options);
  return out;
}

std::vector<Candidate> run_selection(std::vector<Candidate> candidates, int threads,
                                     const SelectionHooks& hooks) {
  const StopRequest stop = [&] { return hooks.stop_requested && hooks.stop_requested(); };
  std::mutex guard;
  for (const Candidate& one : candidates)
    threads = jobs_on(one.options().device, resolve_threads(threads));
  const auto tell = [&](const Candidate& candidate) {
    const std::lock_guard lock(guard);
    if (candidate.done && hooks.on_trained) hooks.on_trained(candidate);
  };
  // A model that resumes its own run is trained here, where the run is.
  std::vector<std::size_t> begun, others;
  for (const std::size_t i : order_of(candidates))
    (hooks.ranks != nullptr && has_begun(candidates[i]) ? begun : others).push_back(i);
  const auto hand = [&](const std::vector<std::size_t>& order, Ranks* ranks) {
    Cells cells;
    cells.count = order.size();
    cells.threads = threads;
    cells.stop = stop;
    cells.here = [&](std::size_t k) {
      train_one(candidates[order[k]], stop);
      tell(candidates[order[k]]);
    };
    cells.take = [&](std::size_t k, std::string_view bytes) {
      take_trained(bytes, candidates[order[k]]);
      tell(candidates[order[k]]);
    };
    const std::string request = Packer().numbers(std::span<const std::size_t>(order)).take();
    hand_out(cells, ranks, kModelsTask, request);
  };
  hand(others, hooks.ranks);
  hand(begun, nullptr);
  rank(candidates);
  return candidates;
}

void help_selection(Ranks& ranks, const std::vector<Candidate>& candidates, int threads) {
  const auto there = [&](std::size_t k, std::string_view request) {
    Unpacker in(request);
    Candidate candidate = candidates.at(in.numbers<std::size_t>().at(k));
    std::vector<EpochRecord> history;
    train_alone(candidate, history);
    return pack_trained(candidate, history);
  };
  ranks.help({{kModelsTask, cells_task(ranks, threads, there)}});
}

nlohmann::ordered_json candidate_json(const Candidate& candidate) {
  using Json = nlohmann::ordered_json;
  const TrainOptions& options = candidate.options();
  const TrainResult& result = candidate.result();
  Json out;
  out["latent_dim"] = options.latent_dim;
  out["kraus_rank"] = candidate.of_hmms() ? Json(nullptr) : Json(options.kraus_rank);
  out["field"] = candidate.of_hmms() ? Json(nullptr) : Json(name_of(options.field));
  out["emission"] = name_of(options.emission);
  out["parameters"] = parameter_count(result.model);
  out["validation_bits_per_symbol"] = number(candidate.bits);
  out["behind_best"] = number(candidate.behind);
  out["behind_best_standard_error"] = number(candidate.standard_error);
  out["seconds"] = candidate.seconds;
  out["status"] = name_of(result.status);
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  return out;
}

}  // namespace hqmm::detail
