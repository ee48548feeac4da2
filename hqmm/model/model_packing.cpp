#include "hqmm/model/model_packing.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hqmm::detail {
namespace {

template <typename Dense>
void pack_dense(const Dense& matrix, Packer& out) {
  using Scalar = typename Dense::Scalar;
  out.number(std::int64_t{matrix.rows()}).number(std::int64_t{matrix.cols()});
  out.numbers(std::span<const Scalar>(matrix.data(), static_cast<std::size_t>(matrix.size())));
}

template <typename Dense>
Dense unpack_dense(Unpacker& in) {
  const auto rows = static_cast<Index>(in.number<std::int64_t>());
  const auto cols = static_cast<Index>(in.number<std::int64_t>());
  Dense out(rows, cols);
  in.numbers(std::span(out.data(), static_cast<std::size_t>(out.size())));
  return out;
}

void pack_alphabet(const Alphabet& alphabet, Packer& out) {
  out.number(std::uint64_t{alphabet.size()});
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out.text(alphabet.token(static_cast<Symbol>(i)));
}

Alphabet unpack_alphabet(Unpacker& in) {
  std::vector<std::string> tokens(in.number<std::uint64_t>());
  for (std::string& token : tokens) token = in.text();
  return Alphabet::from_tokens(std::move(tokens));
}

void pack_fields(const Hmm& model, Packer& out) {
  pack_dense(model.transition, out);
  pack_dense(model.emission, out);
  pack_dense(model.initial, out);
}

void pack_fields(const EdgeHmm& model, Packer& out) {
  out.number(std::uint64_t{model.edges.size()});
  for (const RealMatrix& edge : model.edges) pack_dense(edge, out);
  pack_dense(model.initial, out);
}

void pack_fields(const Hqmm& model, Packer& out) {
  const bool on_states = model.emits_on() == EmissionKind::kState;
  out.number(on_states).number(model.field).number(std::uint64_t{model.sets.size()});
  for (const KrausSet& set : model.sets) {
    if (!on_states)
      out.number(std::int64_t{set.alphabet_size()}).number(std::int64_t{set.kraus_rank()});
    pack_dense(set.stack(), out);
    if (on_states) pack_dense(set.emission(), out);
  }
  out.number(model.positions.anchor());
  out.numbers(std::span(model.positions.entries()));
  pack_dense(model.initial_state, out);
}

Hmm unpack_hmm(Alphabet alphabet, Unpacker& in) {
  Hmm out;
  out.alphabet = std::move(alphabet);
  out.transition = unpack_dense<RealMatrix>(in);
  out.emission = unpack_dense<RealMatrix>(in);
  out.initial = unpack_dense<RealVector>(in);
  return out;
}

EdgeHmm unpack_edge_hmm(Alphabet alphabet, Unpacker& in) {
  EdgeHmm out;
  out.alphabet = std::move(alphabet);
  out.edges.resize(in.number<std::uint64_t>());
  for (RealMatrix& edge : out.edges) edge = unpack_dense<RealMatrix>(in);
  out.initial = unpack_dense<RealVector>(in);
  return out;
}

Hqmm unpack_hqmm(Alphabet alphabet, Unpacker& in) {
  Hqmm out;
  out.alphabet = std::move(alphabet);
  const bool on_states = in.number<bool>();
  out.field = in.number<Field>();
  const auto sets = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < sets; ++i) {
    if (on_states) {
      auto stack = unpack_dense<Stack>(in);
      out.sets.emplace_back(std::move(stack), unpack_dense<RealMatrix>(in));
      continue;
    }
    const auto symbols = static_cast<Index>(in.number<std::int64_t>());
    const auto rank = static_cast<Index>(in.number<std::int64_t>());
    out.sets.emplace_back(symbols, rank, unpack_dense<Stack>(in));
  }
  const auto anchor = in.number<PositionMap::Anchor>();
  out.positions = PositionMap(in.numbers<std::uint32_t>(), anchor);
  out.initial_state = unpack_dense<Matrix>(in);
  return out;
}

}  // namespace

void pack(const AnyModel& model, Packer& out) {
  out.number(std::uint64_t{model.index()});
  pack_alphabet(alphabet_of(model), out);
  std::visit([&out](const auto& one) { pack_fields(one, out); }, model);
}

AnyModel unpack_model(Unpacker& in) {
  const auto kind = in.number<std::uint64_t>();
  Alphabet alphabet = unpack_alphabet(in);
  if (kind == AnyModel(Hmm()).index()) return unpack_hmm(std::move(alphabet), in);
  if (kind == AnyModel(EdgeHmm()).index()) return unpack_edge_hmm(std::move(alphabet), in);
  return unpack_hqmm(std::move(alphabet), in);
}

}  // namespace hqmm::detail
