// Models on their way to another process that works on the same task (core/ranks.hpp), bit for bit.
#pragma once

#include "hqmm/core/packing.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

void pack(const AnyModel& model, Packer& out);
[[nodiscard]] AnyModel unpack_model(Unpacker& in);

}  // namespace hqmm::detail
