#include "hqmm/io/integer_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kNamesShown = 20;

std::string last_part(const std::string& name) { return name.substr(name.find_last_of("./") + 1); }

bool has_zero(const IntegerMatrix& matrix) {
  // Without columns there may be any number of rows.
  for (std::size_t r = 0; matrix.columns > 0 && r < matrix.rows; ++r) {
    for (std::size_t c = 0; c < matrix.columns; ++c) {
      if (matrix.cell(r, c) == 0.0) return true;
    }
  }
  return false;
}

class MatrixReader {
 public:
  MatrixReader(std::string file, int base, const std::optional<Alphabet>& alphabet)
      : file_(std::move(file)), base_(base), alphabet_(alphabet) {
    limit_ = alphabet_ ? alphabet_->size() : kMaxAlphabet;
  }

  void add_row(const IntegerMatrix& matrix, std::size_t row) {
    for (std::size_t c = 0; c < matrix.columns; ++c) set_.push_back(symbol(matrix, row, c));
  }
  SequenceSet& set() { return set_; }
  SequenceSet finish() {
    set_.set_alphabet(alphabet_ ? *alphabet_ : Alphabet::integers(largest_ ? *largest_ + 1U : 0));
    return std::move(set_);
  }

 private:
  Symbol symbol(const IntegerMatrix& matrix, std::size_t row, std::size_t column) {
    const double value = matrix.cell(row, column);
    if (std::isnan(value)) return kMissing;
    const double shifted = value - base_;
    if (value != std::floor(value) || shifted < 0.0 || shifted >= static_cast<double>(limit_)) {
      throw bad_value(matrix, row, column, value);
    }
    const auto found = static_cast<Symbol>(shifted);
    largest_ = std::max(largest_.value_or(0), found);
    return found;
  }

  Error bad_value(const IntegerMatrix& matrix, std::size_t row, std::size_t column,
                  double value) const {
    const Where where = matrix.name.empty()
                            ? Where{.file = file_}
                            : Where{.file = file_, .item = "variable '" + matrix.name + "'"};
    const std::string place = fmt::format("row {}, column {}", row + 1, column + 1);
    if (value != std::floor(value)) {
      return fail(ErrorCode::kBadData, where, "{}: {} is not a whole number", place, value);
    }
    if (value < 0.0) return fail(ErrorCode::kBadData, where, "{}: {} is negative", place, value);
    if (value < base_) {
      return fail(ErrorCode::kBadData, where, "{}: {} is below {}, the number of the first symbol",
                  place, value, base_);
    }
    if (alphabet_) {
      return fail(ErrorCode::kBadData, where,
                  "{}: {} is outside the alphabet ({}), numbered {} to {}", place, value,
                  alphabet_->description(), base_, static_cast<double>(limit_) + base_ - 1);
    }
    return fail(ErrorCode::kBadData, where,
                "{}: {} is too large for a symbol: at most {} is supported", place, value,
                kMaxAlphabet - 1);
  }

  std::string file_;
  int base_;
  std::optional<Alphabet> alphabet_;
  std::size_t limit_ = 0;
  std::optional<Symbol> largest_;
  SequenceSet set_;
};

}  // namespace

SequenceSet to_sequences(const std::vector<IntegerMatrix>& matrices, bool one_based_without_zero,
                         const std::string& file, const ReadOptions& options) {
  const bool one_based =
      one_based_without_zero && std::none_of(matrices.begin(), matrices.end(), has_zero);
  MatrixReader reader(file, options.base.value_or(one_based ? 1 : 0), options.alphabet);
  for (const IntegerMatrix& matrix : matrices) {
    for (std::size_t row = 0; matrix.columns > 0 && row < matrix.rows; ++row) {
      reader.add_row(matrix, row);
      if (matrices.size() > 1) {
        reader.set().end_sequence_labelled(last_part(matrix.name));
      } else {
        reader.set().end_sequence();
      }
    }
  }
  return reader.finish();
}

Error choose_variable(const std::string& file, const std::string& wanted,
                      const std::vector<std::string>& available) {
  if (available.empty()) {
    return fail(ErrorCode::kBadData, Where{.file = file}, "the file holds no matrix of integers{}",
                wanted.empty() ? "" : ", so no '" + printable(wanted) + "'");
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(available.size(), kNamesShown); ++i) {
    names += (i > 0 ? ", " : "") + printable(available[i]);
  }
  if (available.size() > kNamesShown) names += ", …";
  if (wanted.empty()) {
    return fail(ErrorCode::kBadData, Where{.file = file},
                "the file holds {} matrices: choose with {} among {}", available.size(),
                option("variable", "NAME"), names);
  }
  return fail(ErrorCode::kBadData, Where{.file = file},
              "there is no matrix of integers '{}'; {} takes {}", printable(wanted),
              option("variable"), names);
}

}  // namespace hqmm::detail
