// What the engines are called.
#pragma once

#include "hqmm/core/enum_names.hpp"
#include "hqmm/engine/engine_kind.hpp"

namespace hqmm::detail {

template <>
struct EnumNames<EngineKind> {
  static constexpr const char* kWhat = "engine";
  static constexpr Names<EngineKind, 7> kAll{{{EngineKind::kAuto, "auto"},
                                              {EngineKind::kNaive, "naive"},
                                              {EngineKind::kFactor, "factor"},
                                              {EngineKind::kPure, "pure"},
                                              {EngineKind::kLanes, "lanes"},
                                              {EngineKind::kSuperoperator, "superoperator"},
                                              {EngineKind::kKraus, "kraus"}}};
};

}  // namespace hqmm::detail
