// The data of a reproduction: drawn by our generator, or read from the published files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "reproduce/reproduce.hpp"
#include "support/command.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

SyntheticData generated(Study study, const CommonOptions& common) {
  const AnyModel truth =
      study == Study::kSyntheticHmm ? AnyModel(synthetic_hmm()) : AnyModel(synthetic_hqmm());
  Benchmark drawn = generate_benchmark(truth, common.seed, common.threads);
  return {std::move(drawn.train), std::move(drawn.validation), std::move(drawn.test), truth};
}

SyntheticData published(Study study, const fs::path& folder) {
  SyntheticData out;
  out.truth =
      study == Study::kSyntheticHmm ? AnyModel(synthetic_hmm()) : AnyModel(synthetic_hqmm());
  ReadOptions read;
  read.alphabet = alphabet_of(out.truth);
  const auto set = [&](const char* name) { return read_sequences((folder / name).string(), read); };
  out.train = set("train.txt");
  out.validation = set("validation.txt");
  out.test = set("test.txt");
  for (const SequenceSet* one : {&out.train, &out.validation, &out.test}) {
    if (one->longest() > kBenchmarkBurnIn) continue;
    throw fail(ErrorCode::kBadData, Where{.file = folder.string()},
               "the sequences are too short: "
               "the first {} symbols are not scored, and the longest has {}",
               kBenchmarkBurnIn, one->longest());
  }
  return out;
}

std::string hash_of(const SyntheticData& data) {
  return fmt::format("{:016x}-{:016x}-{:016x}", data.train.hash(), data.validation.hash(),
                     data.test.hash());
}

SequenceSet read_splice(const fs::path& path) {
  ReadOptions read;
  read.alphabet = Alphabet::parse("dna");
  read.ambiguous = Ambiguous::kDrop;  // as the paper does: 3175 of 3190 rows are left
  SequenceSet rows = read_sequences(path.string(), read);
  if (!rows.labelled() || rows.classes().size() < 2) {
    throw fail(ErrorCode::kBadData, Where{.file = path.string()},
               "the rows of splice.data have classes, but these do not");
  }
  return rows;
}

/// For people. Nothing draws splice data: without --data they are those of $HQMM_DATA.
std::string source_of(const ReproduceOptions& options, const ReproductionData& data) {
  if (!options.data.empty()) return "the published files";
  std::string out;
  if (!data.synthetic.empty())
    out = fmt::format("drawn from the true models (seed {})", options.common.seed);
  if (data.splice) out += fmt::format("{}splice.data of $HQMM_DATA", out.empty() ? "" : "; ");
  return out;
}

/// Where it may be missing, nothing.
void add_splice(const ReproduceOptions& options, ReproductionData& out) {
  if (const auto path = find_splice(options.data)) {
    out.splice = read_splice(*path);
    out.hashes[Study::kSplice] = hash_text(*out.splice);
  } else if (options.which != "all") {
    throw fail(ErrorCode::kNoInput,
               "splice.data is neither in --data nor in $HQMM_DATA: "
               "fetch it with 'hqmm data splice'");
  }
}

}  // namespace

std::optional<fs::path> find_splice(const std::string& data) {
  std::vector<fs::path> folders;
  if (!data.empty()) folders.emplace_back(data);
  const char* home = std::getenv("HQMM_DATA");
  if (home != nullptr && *home != '\0') folders.emplace_back(home);
  for (const fs::path& folder : folders) {
    for (const char* place : {"splice/splice.data", "splice.data"}) {
      std::error_code ignored;
      if (fs::is_regular_file(folder / place, ignored)) return folder / place;
    }
  }
  return {};
}

ReproductionData find_data(const ReproduceOptions& options, std::vector<Study>& studies) {
  ReproductionData out;
  if (!options.data.empty() && !fs::is_directory(options.data)) {
    throw fail(ErrorCode::kNoInput, Where{.file = options.data}, "there is no such folder");
  }
  for (const Study study : studies) {
    if (study == Study::kSplice) continue;
    SyntheticData data = options.data.empty()
                             ? generated(study, options.common)
                             : published(study, fs::path(options.data) / name_of(study));
    out.hashes[study] = hash_of(data);
    out.synthetic.emplace(study, std::move(data));
  }
  if (std::find(studies.begin(), studies.end(), Study::kSplice) != studies.end()) {
    add_splice(options, out);
    if (!out.splice) std::erase(studies, Study::kSplice);
  }
  out.source = source_of(options, out);
  return out;
}

}  // namespace hqmm::cli
