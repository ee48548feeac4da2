#include "hqmm/evaluate/fold_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "hqmm/core/packing.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/model/model_packing.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kJobsTask = "cells jobs";

ClassifierSetting setting_of(const std::vector<ClassifierSetting>& settings, std::size_t number,
                             std::size_t members) {
  ClassifierSetting out = settings.at(number);
  out.options.members = members;
  return out;
}

std::string pack_jobs(std::span<const FoldJob> jobs, std::span<const std::size_t> chosen) {
  Packer out;
  for (const std::size_t j : chosen) {
    const FoldJob& job = jobs[j];
    Packer one;
    one.number(job.setting).number(job.members).number(job.keep_classifier);
    one.numbers(std::span(job.rows->train)).numbers(std::span(job.rows->scored));
    out.text(one.take());
  }
  return out.take();
}

std::string pack_cell(const FoldCell& cell) {
  Packer out;
  out.number(cell.posteriors.rows()).number(cell.posteriors.classes());
  for (std::size_t i = 0; i < cell.posteriors.rows(); ++i) out.numbers(cell.posteriors.row(i));
  out.number(cell.classifier.has_value());
  if (!cell.classifier) return out.take();
  out.number(cell.classifier->classes.size());
  for (const std::string& name : cell.classifier->classes) out.text(name);
  for (const AnyModel& model : cell.classifier->models) pack(model, out);
  out.numbers(std::span(std::as_const(cell.classifier->priors)));
  return out.take();
}

FoldCell unpack_cell(std::string_view bytes) {
  Unpacker in(bytes);
  FoldCell out;
  const auto rows = in.number<std::size_t>();
  out.posteriors = Posteriors(rows, in.number<std::size_t>());
  for (std::size_t i = 0; i < rows; ++i) in.numbers(out.posteriors.row(i));
  if (!in.number<bool>()) return out;
  Classifier& classifier = out.classifier.emplace();
  classifier.classes.resize(in.number<std::size_t>());
  for (std::string& name : classifier.classes) name = in.text();
  for (std::size_t c = 0; c < classifier.classes.size(); ++c)
    classifier.models.push_back(unpack_model(in));
  classifier.priors = in.numbers<double>();
  return out;
}

/// What was found before, if it fits.
std::optional<FoldCell> find(const FoldJob& job, const CrossValidationHooks& hooks,
                             std::size_t classes) {
  if (!hooks.find_cell) return {};
  std::optional<FoldCell> out = hooks.find_cell(job.name);
  if (!out || out->posteriors.rows() != job.rows->scored.size() ||
      out->posteriors.classes() != classes)
    return {};
  return out;
}

}  // namespace

std::vector<FoldCell> do_jobs(std::span<const FoldJob> jobs,
                              const std::vector<ClassifierSetting>& settings,
                              const FoldLearner& learner, int threads, Meter& meter) {
  const CrossValidationHooks& hooks = meter.hooks();
  std::vector<FoldCell> out(jobs.size());
  std::vector<std::size_t> missing;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (auto found = find(jobs[j], hooks, learner.classes().names.size())) {
      meter.add(work_of(setting_of(settings, jobs[j].setting, jobs[j].members), *jobs[j].rows));
      out[j] = std::move(*found);
    } else {
      missing.push_back(j);
    }
  }
  const auto keep = [&](std::size_t j) {
    if (hooks.keep_cell) hooks.keep_cell(jobs[j].name, out[j]);
  };
  Cells cells;
  cells.count = missing.size();
  cells.threads = threads;
  cells.here = [&](std::size_t k) {
    const FoldJob& job = jobs[missing[k]];
    FoldCell& cell = out[missing[k]];
    cell.posteriors = learner.score(setting_of(settings, job.setting, job.members), *job.rows,
                                    meter, job.keep_classifier ? &cell.classifier : nullptr);
    keep(missing[k]);
  };
  cells.take = [&](std::size_t k, std::string_view bytes) {
    const FoldJob& job = jobs[missing[k]];
    out[missing[k]] = unpack_cell(bytes);
    meter.add(work_of(setting_of(settings, job.setting, job.members), *job.rows));
    keep(missing[k]);
  };
  hand_out(cells, hooks.ranks, kJobsTask, hooks.ranks ? pack_jobs(jobs, missing) : std::string());
  return out;
}

void help_cross_validation(Ranks& ranks, const SequenceSet& data,
                           const std::vector<ClassifierSetting>& settings, int threads) {
  const FoldLearner learner(data);
  const auto there = [&](std::size_t k, std::string_view request) {
    Unpacker in(request);
    std::string_view bytes;
    for (std::size_t i = 0; i <= k; ++i) bytes = in.text();
    Unpacker job(bytes);
    const auto number = job.number<std::size_t>();
    const ClassifierSetting setting = setting_of(settings, number, job.number<std::size_t>());
    const bool keeps = job.number<bool>();
    SplitRows rows;
    rows.train = job.numbers<std::uint32_t>();
    rows.scored = job.numbers<std::uint32_t>();
    const CrossValidationHooks hooks;
    Meter meter(hooks, 1.0);
    FoldCell out;
    out.posteriors = learner.score(setting, rows, meter, keeps ? &out.classifier : nullptr);
    return pack_cell(out);
  };
  ranks.help({{kJobsTask, cells_task(ranks, threads, there)}});
}

}  // namespace hqmm::detail
