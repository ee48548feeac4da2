// A model that follows sequences, or text as it arrives, and passes what it sees to a report.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/io/text.hpp"
#include "hqmm/model/filter.hpp"
#include "hqmm/score/surprise.hpp"
#include "predict/report.hpp"
#include "support/command.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// Carries a model's state along sequences and gives the report the result of each symbol.
template <typename Filter>
class Predictor {
 public:
  Predictor(Filter filter, const PredictFlags& options, const Alphabet& alphabet)
      : filter_(std::move(filter)),
        alphabet_(alphabet),
        steps_(options.steps),
        report_(make_predict_report(options, alphabet)),
        distribution_(alphabet.size()) {}

  [[nodiscard]] PredictReport& report() { return *report_; }

  void begin(std::size_t length, const std::string& name = {}) {
    filter_.restart(length);
    report_->begin(name);
    begun_ = true;
  }

  void take(Symbol symbol) {
    if (!begun_) begin(kUnknownLength);
    const StepWeight weight = filter_.step(symbol);
    const double bits =
        symbol == kMissing ? std::numeric_limits<double>::quiet_NaN() : surprise(weight);
    if (report_->wants_distribution() && weight.raw <= 0.0) warn_of_impossible();
    const bool named = report_->wants_tokens() && symbol != kMissing;
    report(named ? alphabet_.token(symbol) : "?", bits);
  }

  /// A token that the model does not know is infinitely surprising, and moves the state as a
  /// missing symbol does.
  void take_unknown(std::string_view token) {
    if (!begun_) begin(kUnknownLength);
    filter_.skip();
    report(token, std::numeric_limits<double>::infinity());
  }

  void end() {
    if (begun_) report_->end();
    begun_ = false;
  }

 private:
  void report(std::string_view token, double bits) {
    Seen seen{token, bits, {}};
    if (report_->wants_distribution()) {
      predict_ahead(filter_, steps_, distribution_);
      seen.next = distribution_;
    }
    report_->take(seen);
  }

  void warn_of_impossible() {
    if (warned_) return;
    warned_ = true;
    warn(fmt::format("symbol {} has probability 0 under the model; it is treated as missing",
                     report_->symbols()));
  }

  Filter filter_;
  const Alphabet& alphabet_;
  std::size_t steps_;
  std::unique_ptr<PredictReport> report_;
  std::vector<double> distribution_;
  bool begun_ = false;
  bool warned_ = false;
};

/// Text, answered symbol by symbol as it arrives.
template <typename Filter>
class TextStream {
 public:
  TextStream(Predictor<Filter>& predictor, const PredictFlags& options, const ReadOptions& read,
             const std::string& path)
      : predictor_(predictor),
        options_(options),
        read_(read),
        path_(path),
        decoder_(new_decoder()) {}

  void feed(std::string_view bytes) {
    answer([&] { decoder_.feed(bytes, on_symbol_, on_end_, on_unknown_); });
    predictor_.report().flush();
  }
  void finish() {
    answer([&] { decoder_.finish(on_symbol_, on_end_, on_unknown_); });
    predictor_.end();
  }
  void start_over() {
    predictor_.end();
    decoder_ = new_decoder();
  }

 private:
  [[nodiscard]] TextDecoder new_decoder() const {
    TextDecoder out(path_, read_.alphabet, read_.ambiguous);
    if (options_.of_surprise()) out.keep_unknown();
    return out;
  }

  template <typename Decode>
  void answer(const Decode& decode) {
    try {
      decode();
    } catch (const Error&) {
      predictor_.report().flush();  // what came before the bad symbol stands
      throw;
    }
  }

  Predictor<Filter>& predictor_;
  const PredictFlags& options_;
  const ReadOptions& read_;
  std::string path_;
  TextDecoder decoder_;
  std::function<void(Symbol)> on_symbol_ = [this](Symbol symbol) { predictor_.take(symbol); };
  std::function<void()> on_end_ = [this] {
    if (!options_.join_lines) predictor_.end();
  };
  std::function<void(std::string_view)> on_unknown_ = [this](std::string_view token) {
    predictor_.take_unknown(token);
  };
};

}  // namespace hqmm::cli
