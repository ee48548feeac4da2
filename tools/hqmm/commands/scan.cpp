// hqmm scan MODEL DATA: a classifier or a model over every window of long sequences.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/scan_formats.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/evaluate/scan.hpp"
#include "hqmm/evaluate/scan_parts.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequence_stream.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/interrupts.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/suggestion.hpp"

namespace hqmm::cli {
namespace {

constexpr std::size_t kDefaultTop = 100;
constexpr const char* kOfTheData = "data";
constexpr const char* kUniform = "uniform";

struct ScanFlags {
  CommonOptions common;
  DataOptions data;
  std::string model;
  Paths paths;
  std::size_t window = 0;
  std::size_t step = 1;
  std::string strand;
  std::vector<std::string> classes;
  std::string threshold;
  std::size_t top = 0;
  bool distinct = false;
  std::string background = kOfTheData;
  std::string format = "tsv";
  Option background_option;
};

bool background_is_file(const ScanFlags& options) {
  return options.background != kOfTheData && options.background != kUniform;
}

Strands strands_of(const ScanFlags& options, const Alphabet& alphabet) {
  if (options.strand == "forward") return Strands::kForward;
  if (options.strand == "reverse") return Strands::kReverse;
  if (options.strand.empty() && !complements(alphabet)) return Strands::kForward;
  return Strands::kBoth;
}

/// How often each symbol occurs in the data: a reading of its own, before the scan.
std::vector<std::uint64_t> count_symbols(const ScanFlags& options, const ReadOptions& read) {
  std::vector<std::uint64_t> counts(read.alphabet->size(), 0);
  for (const std::string& path : options.paths) {
    if (path == "-" || (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))) {
      throw fail(ErrorCode::kUsage,
                 "the background is counted in the data first, but {} can be read only once: give "
                 "--background uniform, or a model file",
                 path == "-" ? "stdin" : printable(path, 200));
    }
    stream_sequences(path, read, [&](const SequencePiece& piece) {
      for (std::size_t t = 0; t < piece.symbols.size(); ++t)
        if (piece.symbols[t] < counts.size()) ++counts[piece.symbols[t]];
    });
  }
  return counts;
}

AnyModel background_of(const ScanFlags& options, const AnyModel& model, Strands strands) {
  if (background_is_file(options)) {
    const ModelFile file = read_model(options.background);
    warn_if_infeasible(file.model, options.background);
    return file.model;
  }
  const Alphabet& alphabet = alphabet_of(model);
  if (options.background == kUniform)
    return independent_symbols(alphabet, std::vector<std::uint64_t>(alphabet.size(), 0), strands);
  ReadOptions read = options.data.resolve(&alphabet);
  read.on_warning = nullptr;  // the scan will say it
  return independent_symbols(alphabet, count_symbols(options, read), strands);
}

/// What is scanned with: a classifier, or a model against its background.
struct Scanned {
  Classifier classifier;
  std::vector<std::uint32_t> classes;  // that hits are wanted of; none: all
  std::vector<std::string> labels;
  bool is_classifier = false;
};

std::vector<std::uint32_t> classes_called(const ScanFlags& options, const Classifier& classifier) {
  std::vector<std::uint32_t> out;
  const std::vector<std::string>& known = classifier.classes;
  for (const std::string& name : options.classes) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw fail(ErrorCode::kUsage, "--class: there is no class '{}' in {}{}", printable(name),
                 options.model, suggestion(name, known));
    }
    const auto c = static_cast<std::uint32_t>(found - known.begin());
    if (std::find(out.begin(), out.end(), c) == out.end()) out.push_back(c);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Scanned read_scanned(const ScanFlags& options) {
  const std::string bytes = read_all(options.model);  // once: it may be a pipe
  Scanned out;
  out.is_classifier = is_classifier(bytes, options.model);
  if (out.is_classifier) {
    if (options.background_option.given())
      throw fail(ErrorCode::kUsage,
                 "--background is for a single model: a classifier compares its classes with "
                 "each other");
    out.classifier = parse_classifier(bytes, options.model).classifier;
    for (const AnyModel& model : out.classifier.models) warn_if_infeasible(model, options.model);
    out.classes = classes_called(options, out.classifier);
    out.labels = out.classifier.classes;
    return out;
  }
  if (!options.classes.empty())
    throw fail(ErrorCode::kUsage, "--class: {} is a single model, not a classifier", options.model);
  AnyModel model = parse_model(bytes, options.model).model;
  warn_if_infeasible(model, options.model);
  AnyModel background = background_of(options, model, strands_of(options, alphabet_of(model)));
  out.classifier = against_background(std::move(model), std::move(background));
  out.classes = {1};
  const std::string stem = std::filesystem::path(options.model).stem().string();
  out.labels = {"background", options.model == "-" || stem.empty() ? "model" : stem};
  return out;
}

ScanOptions scan_options(const ScanFlags& options, const Scanned& scanned) {
  ScanOptions out;
  out.window = options.window;
  out.step = options.step;
  out.strands = strands_of(options, scanned.classifier.alphabet());
  out.classes = scanned.classes;
  out.distinct = options.distinct;
  out.threads = options.common.threads;
  out.top = options.top;
  if (options.threshold.empty()) {
    if (options.top == 0) out.top = kDefaultTop;
    return out;
  }
  const double threshold = std::stod(options.threshold);  // checked by its option
  if (scanned.is_classifier && (threshold < 0.0 || threshold >= 1.0)) {
    throw fail(ErrorCode::kUsage,
               "--threshold {}: for a classifier it is the lowest posterior, at least 0 and "
               "below 1",
               options.threshold);
  }
  out.least = scanned.is_classifier ? log_odds_of(threshold) : threshold;
  return out;
}

/// Pieces of sequences into the scanner, hits out of it.
class ScanRun {
 public:
  ScanRun(const ScanFlags& options, const Scanned& scanned)
      : options_(options),
        scanned_(scanned),
        track_(options.format == "bedgraph" && !options.common.json),
        scanner_(scanned.classifier, scan_options(options, scanned), sinks()),
        format_(hit_format(options.common.json ? "json" : options.format, text_)),
        counts_(scanned.labels.size()),
        output_(Readers::kPrograms, options.common.out),
        progress_(options.common) {
    text_.labels = scanned.labels;
    text_.window = scanner_.window();
    text_.step = options.step;
    text_.stranded = complements(scanned.classifier.alphabet()).has_value();
    text_.probabilities = scanned.is_classifier;
  }

  void run() {
    const std::uint32_t first = scanned_.classes.empty() ? 0 : scanned_.classes.front();
    output_.write(track_ ? track_beginning(scanned_.labels[first]) : format_->beginning());
    const ReadOptions read = options_.data.resolve(&scanned_.classifier.alphabet());
    for (const std::string& path : options_.paths)
      stream_sequences(path, read, [this](const SequencePiece& piece) { take(piece); });
    scanner_.finish();
    progress_.clear();
    if (!track_) output_.write(format_->end(scanner_.sequences(), scanner_.windows()));
    output_.finish();
    tell();
  }

 private:
  ScanSinks sinks() {
    ScanSinks out;
    if (track_) {
      out.on_track = [this](const ScanTrack& track) {
        lines_.clear();
        add_track(text_, track, lines_);
        output_.write(lines_);
      };
      return out;
    }
    out.on_hits = [this](std::span<const ScanHit> hits) {
      lines_.clear();
      for (const ScanHit& hit : hits) {
        format_->add(hit, lines_);
        ++counts_[hit.label];
      }
      output_.write(lines_);
    };
    return out;
  }

  void take(const SequencePiece& piece) {
    if (text_.names.size() == scanner_.sequences()) text_.names.push_back(piece.name);
    scanner_.take(piece.symbols);
    if (piece.ends) scanner_.end_sequence();
    symbols_ += piece.symbols.size();
    progress_.show(fmt::format("{:.1f} million symbols", static_cast<double>(symbols_) / 1e6));
  }

  void tell() const {
    if (scanner_.windows() == 0) {
      warn(fmt::format("no sequence in {} is as long as a window of {} symbols",
                       shown(options_.paths), scanner_.window()));
      return;
    }
    std::string hits;
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      if (counts_[c] > 0) {
        hits += fmt::format("{}{} of {}", hits.empty() ? "" : ", ", counts_[c],
                            printable(scanned_.labels[c], 60));
      }
    }
    narrate(
        options_.common,
        fmt::format("{} windows of {} symbols in {} sequence{}{}", scanner_.windows(),
                    scanner_.window(), scanner_.sequences(), scanner_.sequences() == 1 ? "" : "s",
                    track_ ? "" : "; hits: " + (hits.empty() ? "none" : hits)));
  }

  const ScanFlags& options_;
  const Scanned& scanned_;
  bool track_;
  HitText text_;
  std::string lines_;
  Scanner scanner_;
  std::unique_ptr<HitFormat> format_;
  std::vector<std::uint64_t> counts_;
  Output output_;
  ProgressLine progress_;
  std::uint64_t symbols_ = 0;
};

void run_scan(const ScanFlags& options) {
  require_one_stdin({{options.model}, options.paths, {options.background}});
  std::vector<NamedFile> inputs{{"MODEL", options.model}};
  add_named(inputs, "DATA", options.paths);
  if (background_is_file(options)) inputs.push_back({"--background", options.background});
  require_other_files({{"-o", options.common.out}}, inputs);
  leave_on_interrupts();
  const Scanned scanned = read_scanned(options);
  ScanRun(options, scanned).run();
}

void add_windows(Command command, ScanFlags& options) {
  constexpr const char* kGroup = "Windows";
  command
      .add_option("--window", options.window,
                  "Length of a window in symbols; a position-dependent model sets its own")
      .check(whole_number(1, 1000000))
      .group(kGroup)
      .type_name("N");
  command
      .add_option("--step", options.step,
                  "Symbols from the start of one window to the start "
                  "of the next")
      .check(whole_number(1, 1000000000))
      .capture_default_str()
      .group(kGroup)
      .type_name("N");
  command
      .add_option("--strand", options.strand,
                  "Strands of DNA or RNA to scan (by default both); other data have only the "
                  "forward one")
      .check(one_of({"both", "forward", "reverse"}))
      .group(kGroup)
      .type_name("both|forward|reverse");
  options.background_option =
      command
          .add_option("--background", options.background,
                      "What a single model is compared with: data (frequencies of its symbols), "
                      "uniform, or a model file")
          .capture_default_str()
          .group(kGroup)
          .type_name("B");
}

void add_hits(Command command, ScanFlags& options) {
  constexpr const char* kGroup = "Hits";
  command.add_option("--class", options.classes, "Classes to report hits for; by default all")
      .delimiter(',')
      .one_word()
      .group(kGroup)
      .type_name("NAME,…");
  command
      .add_option("--threshold", options.threshold,
                  "Lowest posterior of a hit (classifier); lowest log-odds in bits (model)")
      .check(number_between(-1e300, 1e300))
      .group(kGroup)
      .type_name("X");
  command
      .add_option("--top", options.top,
                  "Keep the best N hits of every class; 100 without a threshold")
      .check(whole_number(1, 1000000000))
      .group(kGroup)
      .type_name("N");
  command
      .add_flag("--distinct", options.distinct,
                "Keep only the best of overlapping windows of a class, on either strand")
      .group(kGroup);
  command.add_option("--format", options.format, "How hits are written; see below")
      .check(one_of({"tsv", "bed", "gff3", "bedgraph"}))
      .capture_default_str()
      .group("Output")
      .type_name("tsv|bed|gff3|bedgraph");
}

}  // namespace

void add_scan(Command program) {
  auto options = std::make_shared<ScanFlags>();
  Command command = program
                        .add_subcommand("scan",
                                        "Apply a classifier or model to every window of long "
                                        "sequences")
                        .group("Use a model");
  command.add_option("MODEL", options->model, "Classifier or model file").required().type_name("");
  command.add_option("DATA", options->paths, "Sequences, one or more files; '-' for stdin")
      .required()
      .type_name("");
  add_windows(command, *options);
  add_hits(command, *options);
  options->data.add_to(command, "--data-format");
  add_common(command, options->common, "Write the hits here instead of to stdout");
  command.footer(
      R"(A hit of a classifier is a window and a class, with log-odds log2 P(class) / P(any other class). For a single
model the log-odds are log2 P(window | model) / P(window | background). Hits come in the order of their positions; --top
keeps the best. Windows without any known symbol are skipped; other missing symbols are summed over.

  tsv       a header line, then sequence, begin, end (from 0, end not included), strand, class, posterior, log-odds
  bed       six columns and the log-odds; score 1000 times the posterior, or 10 times a model's log-odds
  gff3      positions from 1; score is the log-odds
  bedgraph  the log-odds of every window at its middle, on the better strand, for one class

Examples: hqmm scan splice.h5 genome.fa --class EI,IE --threshold 0.999 --distinct --format bed -o sites.bed
          hqmm scan model.h5 contigs.fa.gz --window 200 --step 50 --top 20)");
  command.callback([options] { run_scan(*options); });
}

}  // namespace hqmm::cli
