// Reading an HDF5 file: in a sandbox, from bytes in memory.
#pragma once

#include <hdf5.h>

#include <functional>
#include <string>

#include "hqmm/io/wire.hpp"

namespace hqmm::detail {

struct Hdf5Job {
  const std::string& bytes;
  const std::string& file;  // named in errors
  double max_ratio;
  /// Reads below the root and sends the result; runs in the sandbox (see SandboxJob).
  std::function<void(hid_t root, WireWriter& out)> read;
};

/// Throws like run_in_sandbox, and kBadData when the bytes are not HDF5.
void read_hdf5(const Hdf5Job& job, const std::function<void(WireReader& in)>& take);

}  // namespace hqmm::detail
