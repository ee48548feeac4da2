// What the values of the options' enums are called, in files, flags and messages: once, here.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm {

template <typename Kind, std::size_t N>
using Names = std::array<std::pair<Kind, std::string_view>, N>;

/// EnumNames<Kind>::kAll, and what a value is called as a noun.
template <typename Kind>
struct EnumNames;

template <>
struct EnumNames<LearnerKind> {
  static constexpr const char* kWhat = "learner";
  static constexpr Names<LearnerKind, 4> kAll{{{LearnerKind::kNsRis, "ns-ris"},
                                               {LearnerKind::kCosm, "cosm"},
                                               {LearnerKind::kGivens, "givens"},
                                               {LearnerKind::kEm, "em"}}};
};
template <>
struct EnumNames<RetractionKind> {
  static constexpr const char* kWhat = "retraction";
  static constexpr Names<RetractionKind, 2> kAll{
      {{RetractionKind::kFeasible, "feasible"}, {RetractionKind::kLiteral, "literal"}}};
};
template <>
struct EnumNames<ScheduleKind> {
  static constexpr const char* kWhat = "schedule";
  static constexpr Names<ScheduleKind, 3> kAll{{{ScheduleKind::kCosine, "cosine"},
                                                {ScheduleKind::kGeometric, "geometric"},
                                                {ScheduleKind::kConstant, "constant"}}};
};
template <>
struct EnumNames<InitialStateKind> {
  static constexpr const char* kWhat = "initial state";
  static constexpr Names<InitialStateKind, 4> kAll{{{InitialStateKind::kUniform, "uniform"},
                                                    {InitialStateKind::kRandom, "random"},
                                                    {InitialStateKind::kLearned, "learned"},
                                                    {InitialStateKind::kPure, "pure"}}};
};
template <>
struct EnumNames<EmissionKind> {
  static constexpr const char* kWhat = "emission";
  static constexpr Names<EmissionKind, 2> kAll{
      {{EmissionKind::kState, "state"}, {EmissionKind::kEdge, "edge"}}};
};
template <>
struct EnumNames<Field> {
  static constexpr const char* kWhat = "field";
  static constexpr Names<Field, 2> kAll{{{Field::kComplex, "complex"}, {Field::kReal, "real"}}};
};
template <>
struct EnumNames<ObjectiveKind> {
  static constexpr const char* kWhat = "objective";
  static constexpr Names<ObjectiveKind, 3> kAll{{{ObjectiveKind::kDiscriminative, "discriminative"},
                                                 {ObjectiveKind::kGenerative, "generative"},
                                                 {ObjectiveKind::kHybrid, "hybrid"}}};
};
template <>
struct EnumNames<PriorKind> {
  static constexpr const char* kWhat = "prior";
  static constexpr Names<PriorKind, 3> kAll{{{PriorKind::kUniform, "uniform"},
                                             {PriorKind::kEmpirical, "empirical"},
                                             {PriorKind::kGiven, "given"}}};
};
template <>
struct EnumNames<DeviceKind> {
  static constexpr const char* kWhat = "device";
  static constexpr Names<DeviceKind, 2> kAll{
      {{DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}}};
};
/// The engine names its own kinds.
template <>
struct EnumNames<EngineKind> {
  static constexpr const char* kWhat = "engine";
  static inline const Names<EngineKind, 7> kAll = [] {
    Names<EngineKind, 7> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto kind = static_cast<EngineKind>(i);
      out[i] = {kind, engine_name(kind)};
    }
    return out;
  }();
};

template <typename Kind>
[[nodiscard]] std::string_view enum_name(Kind kind) {
  for (const auto& [value, name] : EnumNames<Kind>::kAll) {
    if (value == kind) return name;
  }
  return "?";
}

template <typename Kind>
[[nodiscard]] std::vector<std::string_view> enum_words() {
  std::vector<std::string_view> out;
  for (const auto& [value, name] : EnumNames<Kind>::kAll) out.push_back(name);
  return out;
}

/// Throws kUsage listing the names.
template <typename Kind>
[[nodiscard]] Kind enum_named(std::string_view text) {
  for (const auto& [value, name] : EnumNames<Kind>::kAll) {
    if (name == text) return value;
  }
  throw fail(ErrorCode::kUsage, "there is no {} '{}': known are {}", EnumNames<Kind>::kWhat,
             printable(text), fmt::join(enum_words<Kind>(), ", "));
}

}  // namespace hqmm
