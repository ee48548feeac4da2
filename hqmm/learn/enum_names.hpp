// What the values of the options' enums are called, in files, flags and messages: once, here.
#pragma once

#include "hqmm/core/enum_names.hpp"
#include "hqmm/engine/engine_names.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm::detail {

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
}  // namespace hqmm::detail
