#include "support/command.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {

void add_common(Command command, CommonOptions& options, const std::string& out_help) {
  command.add_option("-o,--out", options.out, out_help).group("Output").type_name("PATH");
  command.add_flag("--json", options.json, "Print one JSON document on stdout").group("Output");
  command.add_flag("--quiet", options.quiet, "No narration on stderr (warnings stay)")
      .group("Output");
  command
      .add_option("--seed", options.seed,
                  "Seed of every random choice: same seed, same bytes, at any thread count")
      .check(whole_number())
      .capture_default_str()
      .group("Running")
      .type_name("N");
  command.add_option("--threads", options.threads, "Threads to use; 0 means all cores")
      .check(whole_number(0, 4096))
      .capture_default_str()
      .group("Running")
      .type_name("N");
}

void add_tsv(Command command, CommonOptions& options, const std::string& help) {
  command.add_flag("--tsv", options.tsv, help).group("Output").excludes(command.option("--json"));
}

void DataOptions::add_to(Command command, const std::string& format_flag) {
  constexpr const char* kGroup = "Reading data";
  command
      .add_option("--alphabet", alphabet_,
                  "dna, rna, protein, a number of symbols (6), or the tokens in order (a,b,c)")
      .group(kGroup)
      .type_name("A");
  command
      .add_option(format_flag, format_,
                  "text, fasta, fastq, uci, labelled, csv, tsv, mat, "
                  "npy, hdf5; by default detected from the content")
      .capture_default_str()
      .group(kGroup)
      .type_name("F");
  command
      .add_option(
          "--ambiguous", ambiguous_,
          "Codes such as N, R or X: missing symbols; the set they stand for (R: A or G); drop the "
          "sequence; or an error")
      .check(one_of({"missing", "set", "drop", "error"}))
      .capture_default_str()
      .group(kGroup)
      .type_name("missing|set|drop|error");
  command
      .add_option("--label-column", label_column_,
                  "CSV/TSV: column (name or 0-based number) of the class")
      .group(kGroup)
      .type_name("COLUMN");
  command
      .add_option("--variable", variables_,
                  "MATLAB/HDF5: matrix to read, e.g. data.trn_data; with several, each is a class")
      .delimiter(',')
      .group(kGroup)
      .type_name("NAME");
  command.add_option("--base", base_, "Number that means symbol 0 in integer matrices")
      .check(one_of({"0", "1"}))
      .group(kGroup)
      .type_name("0|1");
  command
      .add_option("--max-ratio", max_ratio_,
                  "Packed files (gzip, xz, bzip2, zstd, HDF5): refuse one that unpacks to more "
                  "than R times its size")
      .check(number_between(1.0, 1e18))
      .capture_default_str()
      .group(kGroup)
      .type_name("R");
}

ReadOptions DataOptions::resolve(const Alphabet* model) const {
  ReadOptions options;
  options.format = parse<Format>(format_);
  if (!alphabet_.empty()) {
    options.alphabet = Alphabet::parse(alphabet_);
    if (model != nullptr && !(*options.alphabet == *model)) {
      throw fail(ErrorCode::kUsage, "--alphabet {} is not the model's alphabet ({})", alphabet_,
                 model->description());
    }
  } else if (model != nullptr) {
    options.alphabet = *model;
  }
  options.ambiguous = parse<Ambiguous>(ambiguous_);
  options.label_column = label_column_;
  options.variables = variables_;
  options.base = base_;
  options.max_ratio = max_ratio_;
  options.on_warning = warn;
  return options;
}

Json DataOptions::to_json() const {
  Json out;
  out["alphabet"] = alphabet_;
  out["format"] = format_;
  out["ambiguous"] = ambiguous_;
  out["label_column"] = label_column_;
  out["variables"] = variables_;
  out["base"] = base_ ? Json(*base_) : Json(nullptr);
  return out;
}

void DataOptions::from_json(const nlohmann::json& json) {
  json.at("alphabet").get_to(alphabet_);
  json.at("format").get_to(format_);
  json.at("ambiguous").get_to(ambiguous_);
  json.at("label_column").get_to(label_column_);
  json.at("variables").get_to(variables_);
  base_.reset();
  if (!json.at("base").is_null()) base_ = json.at("base").get<int>();
}

void warn(const std::string& message) { tell_line("hqmm: warning: ", message); }

void narrate(const CommonOptions& options, const std::string& message) {
  if (!options.quiet) tell_line("hqmm: ", message);
}

}  // namespace hqmm::cli
