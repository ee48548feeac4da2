// Model files in HDF5 and MATLAB's format; their libraries read them, in a process of its own.
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void model_binary(std::string_view bytes) {
  read_or_refuse([&] { (void)parse_model(std::string(bytes), "fuzz.h5"); });
}

}  // namespace hqmm::fuzz
