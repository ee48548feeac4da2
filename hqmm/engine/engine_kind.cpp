#include "hqmm/engine/engine_kind.hpp"

#include "hqmm/engine/engine_names.hpp"

namespace hqmm {
using namespace detail;

std::string_view name_of(EngineKind kind) { return enum_name(kind); }
template <>
EngineKind parse(std::string_view name) {
  return enum_named<EngineKind>(name);
}

}  // namespace hqmm
