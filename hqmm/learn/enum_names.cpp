#include "hqmm/learn/enum_names.hpp"

namespace hqmm {
using namespace detail;

std::string_view name_of(LearnerKind kind) { return enum_name(kind); }
template <>
LearnerKind parse(std::string_view name) {
  return enum_named<LearnerKind>(name);
}

std::string_view name_of(RetractionKind kind) { return enum_name(kind); }
template <>
RetractionKind parse(std::string_view name) {
  return enum_named<RetractionKind>(name);
}

std::string_view name_of(ScheduleKind kind) { return enum_name(kind); }
template <>
ScheduleKind parse(std::string_view name) {
  return enum_named<ScheduleKind>(name);
}

std::string_view name_of(InitialStateKind kind) { return enum_name(kind); }
template <>
InitialStateKind parse(std::string_view name) {
  return enum_named<InitialStateKind>(name);
}

std::string_view name_of(EmissionKind kind) { return enum_name(kind); }
template <>
EmissionKind parse(std::string_view name) {
  return enum_named<EmissionKind>(name);
}

std::string_view name_of(Field kind) { return enum_name(kind); }
template <>
Field parse(std::string_view name) {
  return enum_named<Field>(name);
}

std::string_view name_of(ObjectiveKind kind) { return enum_name(kind); }
template <>
ObjectiveKind parse(std::string_view name) {
  return enum_named<ObjectiveKind>(name);
}

std::string_view name_of(PriorKind kind) { return enum_name(kind); }
template <>
PriorKind parse(std::string_view name) {
  return enum_named<PriorKind>(name);
}

}  // namespace hqmm
