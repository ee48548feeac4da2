#include "commands/scan_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/evaluate/scan_parts.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

/// One cell of a line, whatever a name holds.
std::string cell(const std::string& name) { return printable(name, 1 << 20); }

std::string percent_escaped(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0 || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", byte);
    }
  }
  return out;
}

char strand_of(const HitText& text, const ScanHit& hit) {
  if (!text.stranded) return '.';
  return hit.reverse ? '-' : '+';
}

class TsvFormat : public HitFormat {
 public:
  explicit TsvFormat(const HitText& text) : text_(text) {}
  [[nodiscard]] std::string beginning() const override {
    return text_.probabilities ? "sequence\tbegin\tend\tstrand\tclass\tposterior\tlog_odds\n"
                               : "sequence\tbegin\tend\tstrand\tlog_odds\n";
  }
  void add(const ScanHit& hit, std::string& out) override {
    fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}", cell(text_.names[hit.sequence]),
                   hit.begin, hit.begin + text_.window, strand_of(text_, hit));
    if (text_.probabilities) {
      fmt::format_to(std::back_inserter(out), "\t{}\t{:.6f}", cell(text_.labels[hit.label]),
                     probability_of(hit.log_odds));
    }
    fmt::format_to(std::back_inserter(out), "\t{:.4f}\n", hit.log_odds);
  }

 private:
  const HitText& text_;
};

/// Six columns and a seventh with the log-odds. Scores are whole numbers from 0 to 1000.
class BedFormat : public HitFormat {
 public:
  explicit BedFormat(const HitText& text) : text_(text) {}
  [[nodiscard]] std::string beginning() const override { return {}; }
  void add(const ScanHit& hit, std::string& out) override {
    const double score =
        text_.probabilities ? 1000.0 * probability_of(hit.log_odds) : 10.0 * hit.log_odds;
    fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{:.4f}\n",
                   cell(text_.names[hit.sequence]), hit.begin, hit.begin + text_.window,
                   cell(text_.labels[hit.label]), std::lround(std::clamp(score, 0.0, 1000.0)),
                   strand_of(text_, hit), hit.log_odds);
  }

 private:
  const HitText& text_;
};

class Gff3Format : public HitFormat {
 public:
  explicit Gff3Format(const HitText& text) : text_(text) {}
  [[nodiscard]] std::string beginning() const override { return "##gff-version 3\n"; }
  void add(const ScanHit& hit, std::string& out) override {
    const std::string score =
        std::isfinite(hit.log_odds) ? fmt::format("{:.4f}", hit.log_odds) : ".";
    fmt::format_to(
        std::back_inserter(out), "{}\thqmm\tsequence_feature\t{}\t{}\t{}\t{}\t.\tID=hit{};Name={}",
        gff3_sequence_name(text_.names[hit.sequence]), hit.begin + 1, hit.begin + text_.window,
        score, strand_of(text_, hit), ++count_, gff3_value(text_.labels[hit.label]));
    if (text_.probabilities)
      fmt::format_to(std::back_inserter(out), ";posterior={:.6f}", probability_of(hit.log_odds));
    out += '\n';
  }

 private:
  const HitText& text_;
  std::uint64_t count_ = 0;
};

/// One document, written as the hits come.
class JsonFormat : public HitFormat {
 public:
  explicit JsonFormat(const HitText& text) : text_(text) {}
  [[nodiscard]] std::string beginning() const override {
    return fmt::format("{{\"window\": {}, \"step\": {}, \"hits\": [", text_.window, text_.step);
  }
  void add(const ScanHit& hit, std::string& out) override {
    nlohmann::ordered_json line;
    line["sequence"] = text_.names[hit.sequence];
    line["begin"] = hit.begin;
    line["end"] = hit.begin + text_.window;
    line["strand"] = std::string(1, strand_of(text_, hit));
    if (text_.probabilities) {
      line["class"] = text_.labels[hit.label];
      line["posterior"] = probability_of(hit.log_odds);
    }
    line["log_odds"] = hit.log_odds;  // infinite: null
    out += first_ ? "\n" : ",\n";
    out += dump_line(line);
    first_ = false;
  }
  [[nodiscard]] std::string end(std::uint64_t sequences, std::uint64_t windows) const override {
    return fmt::format("\n], \"sequences\": {}, \"windows\": {}}}\n", sequences, windows);
  }

 private:
  const HitText& text_;
  bool first_ = true;
};

}  // namespace

std::string HitFormat::end(std::uint64_t /*sequences*/, std::uint64_t /*windows*/) const {
  return {};
}

std::unique_ptr<HitFormat> hit_format(std::string_view name, const HitText& text) {
  if (name == "bed") return std::make_unique<BedFormat>(text);
  if (name == "gff3") return std::make_unique<Gff3Format>(text);
  if (name == "json") return std::make_unique<JsonFormat>(text);
  return std::make_unique<TsvFormat>(text);
}

std::string track_beginning(const std::string& label) {
  std::string name = cell(label);
  std::replace(name.begin(), name.end(), '"', '\'');
  return fmt::format("track type=bedGraph name=\"{}\" description=\"log-odds in bits\"\n", name);
}

void add_track(const HitText& text, const ScanTrack& track, std::string& out) {
  const std::string name = cell(text.names[track.sequence]);
  const std::size_t before = text.window / 2;
  const std::size_t width = std::min(text.step, text.window - before);  // ends in the sequence
  for (std::size_t i = 0; i < track.log_odds.size(); ++i) {
    const double value = track.log_odds[i];
    if (!std::isfinite(value)) continue;
    const std::uint64_t at = track.begin + i * text.step + before;
    fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{:.4f}\n", name, at, at + width, value);
  }
}

std::string gff3_sequence_name(std::string_view name) {
  return percent_escaped(name, ".:^*$@!+_?-|");
}

std::string gff3_value(std::string_view value) {
  return percent_escaped(value, " .:^*$@!+_?-|/()[]{}<>#'\"~`\\");
}

}  // namespace hqmm::cli
