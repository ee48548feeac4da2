// How hits of `hqmm scan` are written: TSV, BED, GFF3, bedGraph and JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/evaluate/scan.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

class Output;

/// What lines of hits are made with.
struct HitText {
  std::vector<std::string> labels;  // by class
  std::vector<std::string> names;   // of the sequences begun so far
  std::size_t window = 0, step = 1;
  bool stranded = false;       // the alphabet has a reverse strand
  bool probabilities = false;  // of a classifier
};

class HitFormat {
 public:
  virtual ~HitFormat() = default;
  [[nodiscard]] virtual std::string beginning() const = 0;
  virtual void add(const ScanHit& hit, std::string& out) = 0;
  /// With how much was looked at.
  [[nodiscard]] virtual std::string end(std::uint64_t sequences, std::uint64_t windows) const;
};

/// tsv, bed, gff3 or json. The text must outlive the format, and names may be added to it.
[[nodiscard]] std::unique_ptr<HitFormat> hit_format(std::string_view name, const HitText& text);

// bedGraph holds all windows: the log-odds of each are at its middle.
[[nodiscard]] std::string track_beginning(const std::string& label);
void add_track(const HitText& text, const ScanTrack& track, std::string& out);

/// Percent-escaped, as GFF3 asks it of its first column and of the values of attributes.
[[nodiscard]] std::string gff3_sequence_name(std::string_view name);
[[nodiscard]] std::string gff3_value(std::string_view value);

}  // namespace hqmm::cli
