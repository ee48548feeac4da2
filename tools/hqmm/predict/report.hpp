// What `hqmm predict` writes while symbols come in: distributions of the next symbol, the
// surprise of the last ones, or alarms if the surprise is too high.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"
#include "predict/predict.hpp"
#include "support/internals.hpp"
#include "support/output.hpp"

namespace hqmm::cli {

/// A symbol that has come.
struct Seen {
  std::string_view token;        // as it was written
  double bits = 0.0;             // what it cost; not a number for a missing one
  std::span<const double> next;  // of the symbol to come; empty unless asked for
};

/// JSON is one document with a list of sequences, written as it grows.
class PredictReport {
 public:
  PredictReport(const PredictFlags& flags, const Alphabet& alphabet);
  virtual ~PredictReport() = default;
  PredictReport(const PredictReport&) = delete;
  PredictReport& operator=(const PredictReport&) = delete;

  [[nodiscard]] virtual bool wants_distribution() const { return false; }
  [[nodiscard]] virtual bool wants_tokens() const { return false; }
  void begin(const std::string& name);  // empty: none
  void take(const Seen& seen);
  void end();
  void flush() { output_.flush(); }
  void finish();

  [[nodiscard]] std::uint64_t symbols() const noexcept { return symbols_; }

 protected:
  virtual void take_symbol(const Seen& seen) = 0;
  virtual void end_sequence() {}
  [[nodiscard]] virtual std::string_view list() const = 0;  // its key in JSON
  [[nodiscard]] virtual bool marks_names() const { return true; }
  /// A line of text, or an element of the sequence's list.
  void put(std::string_view text);

  [[nodiscard]] bool json() const { return flags_.common.json; }
  [[nodiscard]] const PredictFlags& flags() const { return flags_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }  // 0-based
  [[nodiscard]] const std::string& sequence() const { return sequence_; }

 private:
  const PredictFlags& flags_;
  Output output_;
  std::string sequence_;  // its name, or its number
  std::uint64_t sequences_ = 0, symbols_ = 0, position_ = 0, elements_ = 0;
};

/// The one that the flags ask for.
[[nodiscard]] std::unique_ptr<PredictReport> make_predict_report(const PredictFlags& flags,
                                                                 const Alphabet& alphabet);

}  // namespace hqmm::cli
