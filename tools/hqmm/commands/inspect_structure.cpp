#include "commands/inspect_structure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::cli {
namespace {

constexpr std::size_t kMostListed = 16;

double share_of(const RecurrentClass& one, const FixedPoint& fixed) {
  double sum = 0.0;
  for (const Index state : one.states) sum += fixed.state(state, state).real();
  return sum;
}

Json projection_json(const Matrix& basis) {
  const Matrix projection = basis * basis.adjoint();
  Json rows = Json::array();
  for (Index i = 0; i < projection.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < projection.cols(); ++j)
      row.push_back({projection(i, j).real(), projection(i, j).imag()});
    rows.push_back(std::move(row));
  }
  return rows;
}

Json block_json(const RecurrentBlock& block) {
  Json out;
  out["dimension"] = block.basis.cols();
  out["share"] = block.weight;
  out["period"] = block.cycle.size();
  out["cycle"] = Json::array();
  for (const Matrix& part : block.cycle)
    out["cycle"].push_back({{"dimension", part.cols()}, {"projection", projection_json(part)}});
  return out;
}

Json channel_json(const ChannelStructure& found) {
  Json out;
  out["transient_dimension"] = found.transient;
  out["blocks"] = Json::array();
  for (const RecurrentBlock& block : found.blocks) out["blocks"].push_back(block_json(block));
  out["unique"] = found.unique;
  out["lasting_coherences"] = found.lasting_coherences;
  return out;
}

Json chain_json(const ChainStructure& found, const FixedPoint& fixed) {
  Json out;
  out["transient_states"] = found.transient;
  out["classes"] = Json::array();
  for (const RecurrentClass& one : found.classes) {
    out["classes"].push_back({{"states", one.states},
                              {"share", share_of(one, fixed)},
                              {"period", one.cycle.size()},
                              {"cycle", one.cycle}});
  }
  return out;
}

/// "0 3 5", the first of many.
std::string list_text(const std::vector<Index>& values) {
  const auto end =
      values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), kMostListed));
  return fmt::format("{}{}", fmt::join(values.begin(), end, " "),
                     values.size() > kMostListed ? " …" : "");
}

/// The basis states of a subspace that is made of some.
std::string states_of_part(const Matrix& basis) {
  constexpr double kWhole = 1e-6;
  std::vector<Index> states;
  for (Index i = 0; i < basis.rows(); ++i) {
    const double share = basis.row(i).squaredNorm();
    if (share > kWhole && share < 1.0 - kWhole) return {};
    if (share > 0.5) states.push_back(i);
  }
  return fmt::format(": {}", list_text(states));
}

/// "P0 (1: 0) → P1 (2: 1 2) → P0"
template <typename Part, typename Text>
std::string cycle_text(const std::vector<Part>& cycle, Text text) {
  if (cycle.size() == 1) return "no period";
  std::string out = fmt::format("period {}: ", cycle.size());
  for (std::size_t k = 0; k < std::min(cycle.size(), kMostListed); ++k)
    out += fmt::format("P{} ({}) → ", k, text(cycle[k]));
  return out + (cycle.size() > kMostListed ? "…" : "P0");
}

template <typename Blocks, typename Text>
std::string blocks_text(const Blocks& blocks, Text text) {
  std::string out;
  for (std::size_t k = 0; k < std::min(blocks.size(), kMostListed); ++k)
    out += fmt::format("  {:3}  {}\n", k, text(blocks[k]));
  if (blocks.size() > kMostListed)
    out += fmt::format("  … and {} more\n", blocks.size() - kMostListed);
  return out;
}

std::string channel_text(const ChannelStructure& found) {
  std::string out =
      fmt::format("irreducible blocks      {}{}\n", found.blocks.size(),
                  found.transient > 0
                      ? fmt::format(", and {} dimensions that are left for good", found.transient)
                      : "");
  out += blocks_text(found.blocks, [](const RecurrentBlock& block) {
    return fmt::format("dimension {}, {:.4f} of the time, {}", block.basis.cols(), block.weight,
                       cycle_text(block.cycle, [](const Matrix& part) {
                         return fmt::format("dimension {}{}", part.cols(), states_of_part(part));
                       }));
  });
  if (!found.unique) out += "  (some are equal: mixtures of them would do as well)\n";
  if (found.lasting_coherences > 0) {
    out += fmt::format("  (coherences between blocks last: {} more eigenvalues of modulus 1)\n",
                       found.lasting_coherences);
  }
  return out;
}

std::string chain_text(const ChainStructure& found, const FixedPoint& fixed) {
  std::string out = fmt::format(
      "irreducible blocks      {}{}\n", found.classes.size(),
      found.transient.empty() ? ""
                              : fmt::format(", and {} states that are left for good: {}",
                                            found.transient.size(), list_text(found.transient)));
  return out + blocks_text(found.classes, [&](const RecurrentClass& one) {
           return fmt::format("{} states, {:.4f} of the time, {}", one.states.size(),
                              share_of(one, fixed), cycle_text(one.cycle, list_text));
         });
}

std::string ranks_text(const ChoiRanks& ranks) {
  const auto [least, most] = std::minmax_element(ranks.of_symbol.begin(), ranks.of_symbol.end());
  if (*least == *most)
    return fmt::format("{} of every symbol, {} of the channel", *least, ranks.of_channel);
  return fmt::format("by symbol {}; {} of the channel", list_text(ranks.of_symbol),
                     ranks.of_channel);
}

}  // namespace

StructureFindings look_at_structure(const AnyModel& model, const FixedPoint& fixed) {
  StructureFindings out;
  const auto look_at_chain = [&](const RealMatrix& transition) {
    out.unitality = unitality_residual(transition);
    out.chain = chain_structure(transition);
    return out;
  };
  if (const auto* hmm = std::get_if<Hmm>(&model)) return look_at_chain(hmm->transition);
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) return look_at_chain(hmm->transition());
  const auto& hqmm = std::get<Hqmm>(model);
  const KrausSet& set = hqmm.sets[hqmm.positions.entries().front()];
  out.quantum = true;
  out.unitality = unitality_residual(set);
  out.ranks = choi_ranks(set);
  out.channel = channel_structure(set, fixed);
  return out;
}

void add_structure(Json& out, const StructureFindings& found, const FixedPoint& fixed) {
  if (found.quantum) {
    out["choi_ranks"] = nullptr;
    if (found.ranks)
      out["choi_ranks"] = {{"symbols", found.ranks->of_symbol},
                           {"channel", found.ranks->of_channel}};
  }
  out["unital"] = found.unitality <= kUnitalTolerance;
  out["unitality_residual"] = found.unitality;
  out["structure"] = nullptr;
  if (found.channel) out["structure"] = channel_json(*found.channel);
  if (found.chain) out["structure"] = chain_json(*found.chain, fixed);
}

std::string structure_text(const StructureFindings& found, const FixedPoint& fixed) {
  std::string out;
  if (found.quantum) {
    out += fmt::format("Choi rank               {}\n",
                       found.ranks ? ranks_text(*found.ranks) : "not worked out: too large");
  }
  out += fmt::format("unital                  {}  (the uniform mixture moves by {:.3g})\n",
                     found.unitality <= kUnitalTolerance ? "yes" : "no", found.unitality);
  if (found.channel) return out + channel_text(*found.channel);
  if (found.chain) return out + chain_text(*found.chain, fixed);
  return out + fmt::format(
                   "irreducible blocks      not worked out: beyond {} states, or not trace "
                   "preserving\n",
                   kStructureUpTo);
}

}  // namespace hqmm::cli
