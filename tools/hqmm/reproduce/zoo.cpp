// hqmm reproduce zoo: the smallest HQMM and the smallest HMM of every process with a known truth.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/reproduction/zoo_study.hpp"
#include "hqmm/version.hpp"
#include "reproduce/reproduce.hpp"
#include "support/interrupts.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

std::string size_text(const ZooModel& model) {
  if (model.kraus_rank == 0) {
    return fmt::format("n = {}, on {}", model.latent_dim,
                       model.emission == EmissionKind::kState ? "states" : "edges");
  }
  return fmt::format("n = {}, w = {}", model.latent_dim, model.kraus_rank);
}

/// "n = 2, w = 1", or what the best of those tried lacks.
std::string found_text(const ZooSearch& search) {
  if (const ZooModel* model = search.smallest()) return size_text(*model);
  return fmt::format("none up to n = {}", search.tried.back().latent_dim);
}

const ZooModel& shown(const ZooSearch& search) {
  const ZooModel* smallest = search.smallest();
  return smallest != nullptr ? *smallest : search.best();
}

Json model_json(const ZooModel& model) {
  Json out{{"n", model.latent_dim}};
  if (model.kraus_rank > 0) out["w"] = model.kraus_rank;
  out["emission"] = name_of(model.emission);
  out["parameters"] = model.parameters;
  out["excess_bits"] = model.excess;
  return out;
}

Json search_json(const ZooSearch& search) {
  Json out;
  out["smallest"] = nullptr;
  if (const ZooModel* model = search.smallest()) out["smallest"] = model_json(*model);
  out["tried"] = Json::array();
  for (const ZooModel& model : search.tried) out["tried"].push_back(model_json(model));
  return out;
}

Json zoo_json(const std::vector<ZooRow>& rows) {
  Json out;
  out["close_enough_bits"] = kCloseEnough;
  out["processes"] = Json::array();
  for (const ZooRow& row : rows) {
    out["processes"].push_back({{"process", row.process->name},
                                {"entropy_rate_bits", row.entropy},
                                {"exact", row.exact},
                                {"true_model_test_bits", row.true_bits},
                                {"hqmm", search_json(row.hqmm)},
                                {"hmm", search_json(row.hmm)}});
  }
  return out;
}

Cells zoo_cells(const std::vector<ZooRow>& rows) {
  Cells out{{"process", "smallest HQMM", "smallest HMM", "entropy rate", "true model",
             "HQMM: parameters", "above the true", "HMM: parameters", "above the true"}};
  for (const ZooRow& row : rows) {
    const ZooModel& hqmm = shown(row.hqmm);
    const ZooModel& hmm = shown(row.hmm);
    out.push_back({std::string(row.process->name), found_text(row.hqmm), found_text(row.hmm),
                   fmt::format("{:.5f}", row.entropy), fmt::format("{:.5f}", row.true_bits),
                   fmt::format("{}", hqmm.parameters), fmt::format("{:.5f}", hqmm.excess),
                   fmt::format("{}", hmm.parameters), fmt::format("{:.5f}", hmm.excess)});
  }
  return out;
}

std::string zoo_page(const ReproduceOptions& options, const std::vector<ZooRow>& rows) {
  return fmt::format(
      "# The smallest models of processes with a known truth\n\n"
      "Written by `{}` (hqmm {}); do not edit. "
      "The processes are those of `hqmm generate` (zoo.md).\n\n{}\n"
      "All numbers but parameters are bits per symbol, those of models on the "
      "test sequences after {} symbols. Sizes are learned from the smallest\non, "
      "HQMMs by n and then w, HMMs (by EM, emitting on their states or their edges) by n, "
      "on 60,000 symbols, until one is within {} bits of the true\n"
      "model. Where none is, the figures are of the one that came closest.\n",
      options.command(), HQMM_VERSION, aligned_markdown_table(zoo_cells(rows), 3), kZooBurnIn,
      kCloseEnough);
}

}  // namespace

void reproduce_zoo(const ReproduceOptions& options) {
  if (!options.data.empty())
    throw fail(ErrorCode::kUsage, "--data is for the paper's studies: zoo generates its own data");
  const fs::path folder = options.common.out;
  require_other_files({{"-o", (folder / "zoo.md").string()},
                       {"-o", (folder / "zoo.json").string()},
                       {"--write-docs", options.docs}},
                      {});
  leave_on_interrupts();
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw fail(ErrorCode::kCannotWrite, Where{.file = folder.string()},
               "the folder cannot be made: {}", failure.message());
  }
  const ZooOptions how{options.common.seed, options.common.threads, options.quick};
  std::vector<ZooRow> rows;
  for (const Process* process : zoo_processes(how)) {
    rows.push_back(study_process(*process, how, [&](const ZooModel& model) {
      narrate(options.common,
              fmt::format("{}: {} {}, {:.5f} bits above the true model", process->name,
                          model.kraus_rank > 0 ? "HQMM" : "HMM", size_text(model), model.excess));
    }));
  }
  const std::string page = zoo_page(options, rows);
  write_file((folder / "zoo.md").string(), page);
  write_file((folder / "zoo.json").string(), dump(zoo_json(rows)));
  if (!options.docs.empty()) write_file(options.docs, page);
  Output output(readers_of(options.common));
  output.write(options.common.json ? dump(zoo_json(rows)) : table(zoo_cells(rows)));
  output.finish();
  narrate(options.common, fmt::format("zoo.md and zoo.json → {}", options.common.out));
}

}  // namespace hqmm::cli
