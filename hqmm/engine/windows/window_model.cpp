#include "hqmm/engine/windows/window_model.hpp"

#include <algorithm>
#include <utility>

#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/engine/quantum/symbol_channel.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {
namespace {

std::size_t matrices_of(std::size_t symbols) { return symbols + 1 + set_letters(symbols).size(); }

WindowModel shaped(Index size, Index traced, std::size_t symbols, std::size_t sets) {
  WindowModel out;
  out.size = size;
  out.stride = column_stride(size);
  out.traced = traced;
  out.symbols = symbols;
  out.initial.resize(static_cast<std::size_t>(out.stride));
  std::fill(out.initial.begin(), out.initial.end(), 0.0);
  out.sets.resize(sets);
  for (AlignedDoubles& matrices : out.sets) {
    matrices.resize(matrices_of(symbols) * out.matrix_size());
    std::fill(matrices.begin(), matrices.end(), 0.0);
  }
  return out;
}

void add_sums(WindowModel& model) {
  const std::size_t count = model.matrix_size();
  for (AlignedDoubles& matrices : model.sets) {
    const auto add = [&](std::size_t y, std::size_t index) {
      const double* one = matrices.data() + y * count;
      double* sum = matrices.data() + index * count;
      for (std::size_t i = 0; i < count; ++i) sum[i] += one[i];
    };
    for (std::size_t y = 0; y < model.symbols; ++y) add(y, model.symbols);
    for (std::size_t set = model.symbols; set + 1 < model.matrices(); ++set)
      for (const Symbol y : members(model.symbols, static_cast<Symbol>(set))) add(y, set + 1);
  }
}

void put_matrix(const RealMatrix& matrix, Index stride, double* out) {
  for (Index j = 0; j < matrix.cols(); ++j)
    std::copy_n(matrix.data() + j * matrix.rows(), matrix.rows(), out + j * stride);
}

WindowModel windowed(const EdgeHmm& model) {
  WindowModel out = shaped(model.latent_dim(), model.latent_dim(), model.edges.size(), 1);
  out.positive = true;
  std::copy_n(model.initial.data(), model.latent_dim(), out.initial.data());
  for (std::size_t y = 0; y < model.edges.size(); ++y)
    put_matrix(model.edges[y], out.stride, out.sets[0].data() + y * out.matrix_size());
  add_sums(out);
  return out;
}

WindowModel windowed(const Hmm& model) { return windowed(as_edge_hmm(model)); }

WindowModel windowed(const Hqmm& model) {
  const bool real = model.field == Field::kReal;
  const Index n = model.latent_dim();
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  WindowModel out = shaped(coordinate_count(n, real), n, s, model.sets.size());
  out.positions = model.positions;
  std::copy_n(to_coordinates(model.initial_state).data(), out.size, out.initial.data());
  SymbolScratch scratch;
  SymbolChannel channel(n, model.kraus_rank(), real, scratch);
  const Index operators = model.kraus_rank() * n * n;
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    const KrausSet free = model.sets[set].expanded();
    for (std::size_t y = 0; y < s; ++y) {
      channel.load(free.gamma().data() + static_cast<Index>(y) * operators);
      channel.write_operator(out.sets[set].data() + y * out.matrix_size());
    }
  }
  add_sums(out);
  return out;
}

double sets_of(const Hqmm& model) { return static_cast<double>(model.sets.size()); }
template <typename Classical>
double sets_of(const Classical& /*model*/) {
  return 1.0;
}
Index size_of(const Hqmm& model) {
  return coordinate_count(model.latent_dim(), model.field == Field::kReal);
}
template <typename Classical>
Index size_of(const Classical& model) {
  return model.latent_dim();
}

}  // namespace

double window_model_numbers(const AnyModel& model) {
  return std::visit(
      [](const auto& m) {
        const auto size = static_cast<double>(size_of(m));
        return sets_of(m) * static_cast<double>(matrices_of(m.alphabet.size())) * size * size;
      },
      model);
}

WindowModel window_model(const AnyModel& model) {
  return std::visit([](const auto& m) { return windowed(m); }, model);
}

}  // namespace hqmm::detail
