#include "hqmm/engine/device_kind.hpp"

#include "hqmm/engine/engine_names.hpp"

namespace hqmm {
using namespace detail;

std::string_view name_of(DeviceKind kind) { return enum_name(kind); }
template <>
DeviceKind parse(std::string_view name) {
  return enum_named<DeviceKind>(name);
}

}  // namespace hqmm
