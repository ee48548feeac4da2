// What a channel is made of, as `hqmm inspect` says it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "hqmm/model/channel_structure.hpp"
#include "support/command.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

struct StructureFindings {
  double unitality = 0.0;
  bool quantum = false;  // else one of the last
  std::optional<ChoiRanks> ranks;
  std::optional<ChannelStructure> channel;
  std::optional<ChainStructure> chain;
};

/// For a stationary model. Does not throw: what is too large is left out.
[[nodiscard]] StructureFindings look_at_structure(const AnyModel& model, const FixedPoint& fixed);

/// Adds its members to those of a model.
void add_structure(Json& out, const StructureFindings& found, const FixedPoint& fixed);
[[nodiscard]] std::string structure_text(const StructureFindings& found, const FixedPoint& fixed);

}  // namespace hqmm::cli
