#include "hqmm/io/hdf5_sandbox.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/sandbox.hpp"

namespace hqmm::detail {

void read_hdf5(const Hdf5Job& job, const std::function<void(WireReader& in)>& take) {
  SandboxJob inside{job.file, job.bytes.size(), job.max_ratio};
  inside.read = [&](WireWriter& out) {
    silence_hdf5();
    const Hid root = open_hdf5_image(job.bytes);
    if (!root)
      throw fail(ErrorCode::kBadData, Where{.file = job.file},
                 "the HDF5 file is truncated or damaged");
    job.read(root, out);
  };
  run_in_sandbox(inside, take);
}

}  // namespace hqmm::detail
