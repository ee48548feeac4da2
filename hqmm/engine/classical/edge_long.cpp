#include "hqmm/engine/classical/edge_long.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/edge_chain.hpp"
#include "hqmm/engine/scratch_pool.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kPieceSymbols = 4096;
constexpr std::size_t kSlicePieces = 32;     // that share a program
constexpr std::size_t kSlicesTogether = 16;  // a wave, after which to ask whether to stop

/// A sequence in pieces, and those in slices.
class Pieces {
 public:
  explicit Pieces(const SequenceView& sequence) : sequence_(sequence) {}

  [[nodiscard]] std::size_t count() const {
    return (sequence_.size() + kPieceSymbols - 1) / kPieceSymbols;
  }
  [[nodiscard]] std::size_t slices() const { return (count() + kSlicePieces - 1) / kSlicePieces; }
  [[nodiscard]] std::size_t first_of(std::size_t slice) const { return slice * kSlicePieces; }
  [[nodiscard]] std::size_t end_of(std::size_t slice) const {
    return std::min(count(), first_of(slice + 1));
  }
  [[nodiscard]] SequenceView piece(std::size_t k) const {
    const std::size_t begin = k * kPieceSymbols;
    return sequence_.part(begin, std::min(kPieceSymbols, sequence_.size() - begin));
  }
  [[nodiscard]] std::vector<SequenceView> of_slice(std::size_t slice) const {
    std::vector<SequenceView> out;
    for (std::size_t k = first_of(slice); k < end_of(slice); ++k) out.push_back(piece(k));
    return out;
  }

 private:
  SequenceView sequence_;
};

/// The model that reads a sequence from its end: its states are adjoints.
EdgeHmm reversed(const EdgeHmm& model) {
  EdgeHmm out{model.alphabet, {}, {}};
  for (const RealMatrix& edge : model.edges) out.edges.emplace_back(edge.transpose());
  out.initial =
      RealVector::Constant(model.latent_dim(), 1.0 / static_cast<double>(model.latent_dim()));
  return out;
}

class LongWalk {
 public:
  LongWalk(const EdgeHmm& model, const SequenceView& sequence)
      : model_(model),
        pieces_(sequence),
        chain_(model_),
        back_model_(reversed(model)),
        back_chain_(back_model_),
        size_(chain_.state_size()),
        starts_(pieces_.count() * size_, 0.0),
        ends_(pieces_.count() * size_, 0.0) {}

  /// False when numbers left the range of doubles.
  [[nodiscard]] bool run(int threads) {
    std::array<bool, 2> good{};
    parallel_for(2, threads, [&](std::size_t i) { good[i] = i == 0 ? forward() : backward(); });
    return good[0] && good[1];
  }

  [[nodiscard]] const Pieces& pieces() const { return pieces_; }
  [[nodiscard]] const double* start_of(std::size_t piece) const {
    return starts_.data() + piece * size_;
  }
  [[nodiscard]] const double* end_of(std::size_t piece) const {
    return ends_.data() + piece * size_;
  }
  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }
  [[nodiscard]] RealVector posterior() const {
    const RealVector out = model_.initial.cwiseProduct(first_adjoint_);
    return out / out.sum();
  }

 private:
  [[nodiscard]] bool forward() {
    std::vector<double> x(size_, 0.0);
    std::copy_n(model_.initial.data(), model_.latent_dim(), x.begin());
    for (std::size_t slice = 0; slice < pieces_.slices(); ++slice) {
      const std::vector<SequenceView> views = pieces_.of_slice(slice);
      chain_.load(views, 1.0);
      for (std::size_t k = 0; k < views.size(); ++k) {
        std::copy(x.begin(), x.end(), &starts_[(pieces_.first_of(slice) + k) * size_]);
        const std::optional<double> gained = chain_.advance(k, x.data());
        if (!gained) return false;
        log_likelihood_ += *gained;
      }
    }
    return true;
  }

  [[nodiscard]] bool backward() {
    std::vector<double> z(size_, 0.0);
    std::copy_n(back_model_.initial.data(), model_.latent_dim(), z.begin());
    for (std::size_t slice = pieces_.slices(); slice-- > 0;) {
      const SequenceSet turned = turned_slice(slice);
      std::vector<SequenceView> views;
      for (std::size_t k = 0; k < turned.size(); ++k) views.push_back(turned[k]);
      back_chain_.load(views, 1.0);
      for (std::size_t k = 0; k < views.size(); ++k) {
        std::copy(z.begin(), z.end(), &ends_[(pieces_.end_of(slice) - 1 - k) * size_]);
        if (!back_chain_.advance(k, z.data())) return false;
      }
    }
    first_adjoint_ = Eigen::Map<const RealVector>(z.data(), model_.latent_dim());
    return true;
  }

  /// Its pieces from the last to the first, each from its end.
  [[nodiscard]] SequenceSet turned_slice(std::size_t slice) const {
    SequenceSet out(model_.alphabet);
    for (std::size_t k = pieces_.end_of(slice); k-- > pieces_.first_of(slice);) {
      const SequenceView piece = pieces_.piece(k);
      for (std::size_t t = piece.size(); t-- > 0;) out.push_back(piece[t]);
      out.end_sequence();
    }
    return out;
  }

  const EdgeHmm& model_;
  Pieces pieces_;
  EdgeChain chain_;
  EdgeHmm back_model_;
  EdgeChain back_chain_;
  std::size_t size_;
  std::vector<double> starts_, ends_;
  double log_likelihood_ = 0.0;
  RealVector first_adjoint_;
};

/// Sums over slices; no edges where one left the range of doubles.
LongDerivatives no_derivatives(const EdgeHmm& model) {
  LongDerivatives out;
  out.edges.assign(model.edges.size() + 1,
                   RealMatrix::Zero(model.latent_dim(), model.latent_dim()));
  return out;
}

LongDerivatives add(LongDerivatives a, const LongDerivatives& b) {
  a.scored += b.scored;
  for (std::size_t y = 0; y < a.edges.size(); ++y) a.edges[y] += b.edges[y];
  return a;
}

}  // namespace

bool is_long_for_edges(const SequenceView& sequence, std::size_t alphabet_size) {
  return sequence.size() >= kLongForEdges && any_known(sequence) &&
         !sequence.has_sets(alphabet_size);
}

std::optional<LongDerivatives> long_derivatives(const EdgeHmm& model, const SequenceView& sequence,
                                                double weight, int threads,
                                                const std::function<bool()>& stop) {
  LongWalk walk(model, sequence);
  if (stop() || !walk.run(threads)) return {};
  LongDerivatives total = no_derivatives(model);
  ScratchPool<EdgeChain> pool;
  std::atomic<bool> good = true;
  const Pieces& pieces = walk.pieces();
  for (std::size_t begin = 0; begin < pieces.slices(); begin += kSlicesTogether) {
    if (stop()) return {};
    const std::size_t size = std::min(kSlicesTogether, pieces.slices() - begin);
    const auto count = [&](std::size_t i) {
      const std::size_t slice = begin + i;
      const std::size_t first = pieces.first_of(slice);
      ScratchPool<EdgeChain>::Loan loan(pool, model);
      EdgeChain& chain = loan.scratch();
      LongDerivatives out = no_derivatives(model);
      chain.load(pieces.of_slice(slice), weight);
      if (!chain.differentiate_between(walk.start_of(first), walk.end_of(first))) {
        good = false;
        return out;
      }
      for (std::size_t y = 0; y < out.edges.size(); ++y) chain.add_derivative(y, out.edges[y]);
      for (std::size_t k = first; k < pieces.end_of(slice); ++k)
        out.scored += chain.scored(k - first);
      return out;
    };
    total =
        add(std::move(total), parallel_reduce(size, threads, no_derivatives(model), count, add));
    if (!good) return {};
  }
  total.log_likelihood = walk.log_likelihood();
  total.posterior = walk.posterior();
  return total;
}

}  // namespace hqmm::detail
