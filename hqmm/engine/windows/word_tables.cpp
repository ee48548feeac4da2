#include "hqmm/engine/windows/word_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {
namespace {

// What fits the second level cache of most processors, shared with the states of a tile.
constexpr double kEdgeBytes = 2.0 * 1024 * 1024;
constexpr double kBodyBytes = 512.0 * 1024;
constexpr std::size_t kLongestWord = 16;

constexpr double kNotToBelieve = std::numeric_limits<double>::quiet_NaN();

/// Symbols of the longest words of which `bytes` hold all; at least one.
std::size_t longest_word(std::size_t symbols, double bytes_of_one, double bytes) {
  std::size_t length = 1;
  double all = bytes_of_one * static_cast<double>(symbols);
  while (length < kLongestWord && symbols > 1 && all * static_cast<double>(symbols) <= bytes) {
    all *= static_cast<double>(symbols);
    ++length;
  }
  return length;
}

std::size_t power(std::size_t base, std::size_t exponent) {
  std::size_t out = 1;
  while (exponent-- > 0) out *= base;
  return out;
}

WindowCut cut_for(Index size, std::size_t symbols, std::size_t window) {
  const double column = 8.0 * static_cast<double>(column_stride(size));
  return cut_window(window, longest_word(symbols, column, kEdgeBytes),
                    longest_word(symbols, column * static_cast<double>(size), kBodyBytes));
}

/// C = L · R, all with columns `stride` apart.
PanelProduct square_product(const WindowModel& model, const double* left, const double* right,
                            double* out) {
  PanelProduct p;
  p.rows = padded_rows(model.size);
  p.depth = p.cols = model.size;
  p.left = left;
  p.right = right;
  p.out = out;
  p.left_stride = p.col_step = p.out_stride = model.stride;
  return p;
}

double believed(double found, double most) {
  return found >= kCancelled * most ? found : kNotToBelieve;
}

}  // namespace

WindowCut cut_window(std::size_t window, std::size_t edge, std::size_t body) {
  WindowCut cut;
  if (window <= edge) {
    cut.head = window;
    return cut;
  }
  cut.tail = std::min(edge, window / 2);
  cut.head = std::min(edge, window - cut.tail);
  const std::size_t between = window - cut.head - cut.tail;
  const std::size_t count = (between + body - 1) / body;
  for (std::size_t k = 0; k < count; ++k)
    cut.bodies.push_back((k + 1) * between / count - k * between / count);
  return cut;
}

double word_table_bytes(Index size, std::size_t symbols, std::size_t window) {
  const WindowCut cut = cut_for(size, symbols, window);
  const double column = 8.0 * static_cast<double>(column_stride(size));
  const auto s = static_cast<double>(symbols);
  double out = column * (std::pow(s, cut.head) + std::pow(s, cut.tail));
  for (const std::size_t length : cut.bodies)
    out += column * static_cast<double>(size) * std::pow(s, length);
  return out;
}

WordTables::WordTables(const WindowModel& model, std::size_t window, int threads)
    : model_(model), window_(window) {
  const WindowCut cut = cut_for(model.size, model.symbols, window);
  build_bounds();
  std::vector<std::vector<std::uint32_t>> wanted;
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  std::size_t begin = cut.head;
  for (const std::size_t length : cut.bodies) {
    std::vector<std::uint32_t> sets(length);
    for (std::size_t i = 0; i < length; ++i) sets[i] = set_at(begin + i);
    const auto [at, fresh] = known.try_emplace(sets, wanted.size());
    if (fresh) wanted.push_back(sets);
    table_of_.push_back(at->second);
    begin_of_.push_back(begin);
    begin += length;
  }
  tables_.resize(wanted.size());
  parallel_for(wanted.size() + 2, threads, [&](std::size_t i) {
    if (i == 0) return build_head(cut.head);
    if (i == 1) return build_tail(cut.tail);
    tables_[i - 2] = build_body(wanted[i - 2]);
  });
}

double WordTables::norm_of_weight(const double* matrix) const {
  double squares = 0.0;
  for (Index j = 0; j < model_.size; ++j)
    squares += std::pow(model_.weight(matrix + j * model_.stride), 2);
  return std::sqrt(squares);
}

void WordTables::build_bounds() {
  bounds_.resize(model_.sets.size());
  for (std::uint32_t set = 0; set < bounds_.size(); ++set)
    for (std::size_t index = 0; index < model_.matrices(); ++index)
      bounds_[set].push_back(norm_of_weight(model_.matrix(set, index)));
}

/// Word by word of one symbol more: all words of equal last symbol are one product.
void WordTables::build_head(std::size_t length) {
  const auto stride = static_cast<std::size_t>(model_.stride);
  const std::size_t s = model_.symbols;
  AlignedDoubles before = model_.initial;
  std::vector<double> weights{model_.weight(before.data())};
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t words = weights.size();
    AlignedDoubles after(words * s * stride);
    std::fill(after.begin(), after.end(), 0.0);
    std::vector<double> next(words * s);
    for (std::size_t y = 0; y < s; ++y) {
      PanelProduct p = square_product(model_, model_.matrix(set_at(t), y), before.data(),
                                      after.data() + y * stride);
      p.cols = static_cast<Index>(words);
      p.out_stride = static_cast<Index>(s * stride);
      panel_kernel()(p);
      for (std::size_t word = 0; word < words; ++word) {
        const double found = model_.weight(after.data() + (word * s + y) * stride);
        next[word * s + y] =
            model_.positive ? found : believed(found, bounds_[set_at(t)][y] * weights[word]);
      }
    }
    before = std::move(after);
    weights = std::move(next);
  }
  head_ = {length, std::move(before), std::move(weights)};
}

void WordTables::build_tail(std::size_t length) {
  const auto stride = static_cast<std::size_t>(model_.stride);
  const std::size_t s = model_.symbols;
  AlignedDoubles after(stride);
  std::fill(after.begin(), after.end(), 0.0);
  std::fill_n(after.begin(), model_.traced, 1.0);
  std::vector<double> norms{std::sqrt(static_cast<double>(model_.traced))};
  AlignedDoubles turned(model_.matrix_size());
  std::fill(turned.begin(), turned.end(), 0.0);
  for (std::size_t k = 0; k < length; ++k) {
    const std::uint32_t set = set_at(window_ - 1 - k);
    const std::size_t words = norms.size();
    AlignedDoubles before(words * s * stride);
    std::fill(before.begin(), before.end(), 0.0);
    std::vector<double> next(words * s);
    for (std::size_t y = 0; y < s; ++y) {
      const double* matrix = model_.matrix(set, y);
      for (Index j = 0; j < model_.size; ++j)
        for (Index i = 0; i < model_.size; ++i)
          turned[static_cast<std::size_t>(i * model_.stride + j)] = matrix[j * model_.stride + i];
      double* to = before.data() + y * words * stride;
      PanelProduct p = square_product(model_, turned.data(), after.data(), to);
      p.cols = static_cast<Index>(words);
      panel_kernel()(p);
      for (std::size_t word = 0; word < words; ++word) {
        const double found = Eigen::Map<const RealVector>(to + word * stride, model_.size).norm();
        next[y * words + word] =
            model_.positive ? found : believed(found, bounds_[set][y] * norms[word]);
      }
    }
    after = std::move(before);
    norms = std::move(next);
  }
  tail_ = {length, std::move(after), std::move(norms)};
}

BodyTable WordTables::build_body(const std::vector<std::uint32_t>& sets) const {
  const std::size_t s = model_.symbols;
  const std::size_t one = model_.matrix_size();
  const std::size_t words = power(s, sets.size());
  BodyTable out;
  out.length = sets.size();
  const double* first = model_.matrix(sets[0], 0);
  out.matrices.assign(first, first + s * one);
  const std::vector<double>& bounds_of_first = bounds_[sets[0]];
  out.bounds.assign(bounds_of_first.begin(),
                    bounds_of_first.begin() + static_cast<std::ptrdiff_t>(s));
  out.bounds.reserve(words);
  for (std::size_t k = 1; k < sets.size(); ++k) {
    AlignedDoubles longer(out.bounds.size() * s * one);
    std::fill(longer.begin(), longer.end(), 0.0);
    std::vector<double> bounds(out.bounds.size() * s);
    for (std::size_t word = 0; word < bounds.size(); ++word) {
      double* to = longer.data() + word * one;
      panel_kernel()(square_product(model_, model_.matrix(sets[k], word % s),
                                    out.matrices.data() + word / s * one, to));
      const double found = norm_of_weight(to);
      bounds[word] = model_.positive
                         ? found
                         : believed(found, bounds_[sets[k]][word % s] * out.bounds[word / s]);
    }
    out.matrices = std::move(longer);
    out.bounds = std::move(bounds);
  }
  return out;
}

}  // namespace hqmm::detail
