#include "predict/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/score/surprise.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

class DistributionReport : public PredictReport {
 public:
  using PredictReport::PredictReport;
  [[nodiscard]] bool wants_distribution() const override { return true; }

 private:
  [[nodiscard]] std::string_view list() const override { return "predictions"; }

  void take_symbol(const Seen& seen) override {
    line_ = json() ? "[" : "";
    for (std::size_t y = 0; y < seen.next.size(); ++y) {
      if (y > 0) line_ += json() ? ", " : " ";
      fmt::format_to(std::back_inserter(line_), "{}", seen.next[y]);
    }
    if (json()) line_ += "]";
    put(line_);
  }

  std::string line_;
};

/// The same as a table: a row for every symbol that came, with what was then to come.
class DistributionTable : public PredictReport {
 public:
  DistributionTable(const PredictFlags& flags, const Alphabet& alphabet)
      : PredictReport(flags, alphabet) {
    std::vector<std::string> head{"name", "position", "symbol"};
    for (const std::string& token : alphabet.all_tokens()) head.push_back("P(" + token + ")");
    put_row(head);
  }
  [[nodiscard]] bool wants_distribution() const override { return true; }
  [[nodiscard]] bool wants_tokens() const override { return true; }

 private:
  [[nodiscard]] std::string_view list() const override { return ""; }
  [[nodiscard]] bool marks_names() const override { return false; }

  void take_symbol(const Seen& seen) override {
    std::vector<std::string> row{sequence(), std::to_string(position()),
                                 std::isnan(seen.bits) ? "NA" : std::string(seen.token)};
    for (const double p : seen.next) row.push_back(exact(p));
    put_row(row);
  }

  void put_row(const std::vector<std::string>& cells) {
    std::string line = tsv_row(cells);
    line.pop_back();  // put() ends it
    put(line);
  }
};

/// The mean over the window after every symbol, once it is full.
class SurpriseReport : public PredictReport {
 public:
  SurpriseReport(const PredictFlags& options, const Alphabet& alphabet)
      : PredictReport(options, alphabet), window_(options.window_size()) {}

 private:
  [[nodiscard]] std::string_view list() const override { return "surprise"; }

  void take_symbol(const Seen& seen) override {
    if (!std::isnan(seen.bits)) window_.add(seen.bits);
    if (json()) {
      put(window_.full() ? dump_line(number(window_.mean())) : "null");
    } else {
      put(window_.full() ? fmt::format("{}", window_.mean()) : "nan");
    }
  }
  void end_sequence() override { window_.clear(); }

  SurpriseWindow window_;
};

/// A place where the mean over the window is above the threshold: from the first symbol to the last
/// one at which it is.
struct Alarm {
  std::uint64_t from = 0, to = 0, worst_at = 0;
  double worst = 0.0;
  std::string token;  // at the worst
};

class AlarmReport : public PredictReport {
 public:
  AlarmReport(const PredictFlags& options, const Alphabet& alphabet)
      : PredictReport(options, alphabet), window_(options.window_size()) {}
  [[nodiscard]] bool wants_tokens() const override { return true; }

 private:
  [[nodiscard]] std::string_view list() const override { return "alarms"; }
  [[nodiscard]] bool marks_names() const override { return false; }

  void take_symbol(const Seen& seen) override {
    if (std::isnan(seen.bits)) return;
    window_.add(seen.bits);
    last_ = position();
    token_ = seen.token;
    if (window_.full()) judge();
  }

  void judge() {
    const double mean = window_.mean();
    if (!(mean > flags().alarm)) {
      over();
      return;
    }
    if (!alarm_) {
      alarm_ = Alarm{last_, last_, last_, mean, token_};
      tell("alarm", last_, mean, token_);
    }
    alarm_->to = last_;
    if (mean > alarm_->worst) {
      alarm_->worst = mean;
      alarm_->worst_at = last_;
      alarm_->token = token_;
    }
  }

  void over() {
    if (!alarm_) return;
    tell("over", alarm_->worst_at, alarm_->worst, alarm_->token);
    if (json()) put(dump_line(element()));
    alarm_.reset();
  }

  /// A sequence shorter than the window is judged by all of it.
  void end_sequence() override {
    if (!window_.full() && window_.count() > 0) judge();
    over();
    window_.clear();
  }

  void tell(const char* what, std::uint64_t at, double bits, const std::string& token) {
    if (json()) return;
    put(fmt::format("{}\t{}\t{}\t{:.3f}\t{}", what, sequence(), at, bits,
                    printable(token, token.size())));
  }

  [[nodiscard]] Json element() const {
    Json out;
    out["from"] = alarm_->from;
    out["to"] = alarm_->to;
    out["worst_at"] = alarm_->worst_at;
    out["bits"] = number(alarm_->worst);
    out["symbol"] = alarm_->token;
    return out;
  }

  SurpriseWindow window_;
  std::optional<Alarm> alarm_;
  std::uint64_t last_ = 0;
  std::string token_;
};

Json head_of(const PredictFlags& flags, const Alphabet& alphabet) {
  require_utf8(alphabet.all_tokens(), "leave --json out");
  Json out;
  out["alphabet"] = alphabet.all_tokens();
  if (!flags.of_surprise()) out["steps"] = flags.steps;
  if (flags.of_surprise()) out["window"] = flags.window_size();
  if (flags.alarm > 0.0) out["alarm"] = flags.alarm;
  return out;
}

}  // namespace

PredictReport::PredictReport(const PredictFlags& options, const Alphabet& alphabet)
    : flags_(options), output_(Readers::kPrograms, options.common.out) {
  if (!json()) return;
  std::string head = dump_line(head_of(options, alphabet));
  head.pop_back();
  output_.write(head + ", \"sequences\": [");
}

void PredictReport::begin(const std::string& name) {
  sequence_ = name.empty() ? std::to_string(sequences_) : printable(name, name.size());
  if (json()) {
    output_.write(fmt::format("{}{{{}\"{}\": [", sequences_ == 0 ? "\n" : ",\n",
                              name.empty() ? "" : "\"name\": " + dump_line(Json(name)) + ", ",
                              list()));
  } else if (marks_names() && !name.empty()) {
    output_.write("# " + sequence_ + "\n");
  }
  ++sequences_;
  position_ = elements_ = 0;
}

void PredictReport::take(const Seen& seen) {
  take_symbol(seen);
  ++position_;
  ++symbols_;
}

void PredictReport::end() {
  end_sequence();
  if (json()) output_.write(fmt::format("], \"symbols\": {}}}", position_));
}

void PredictReport::put(std::string_view text) {
  if (json()) output_.write(elements_++ == 0 ? "\n" : ",\n");
  output_.write(text);
  if (!json()) output_.write("\n");
}

void PredictReport::finish() {
  if (json()) output_.write("\n]}\n");
  output_.finish();
}

std::unique_ptr<PredictReport> make_predict_report(const PredictFlags& flags,
                                                   const Alphabet& alphabet) {
  if (flags.common.tsv) return std::make_unique<DistributionTable>(flags, alphabet);
  if (flags.alarm > 0.0) return std::make_unique<AlarmReport>(flags, alphabet);
  if (flags.window > 0) return std::make_unique<SurpriseReport>(flags, alphabet);
  return std::make_unique<DistributionReport>(flags, alphabet);
}

}  // namespace hqmm::cli
