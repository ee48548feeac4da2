// Sequences in HDF5 files; libhdf5 reads them, in a process of its own.
#include "hqmm/io/hdf5_sequences.hpp"

#include "target.hpp"

namespace hqmm::fuzz {

void hdf5(std::string_view bytes) {
  read_or_refuse([&] { (void)hdf5_sequences(std::string(bytes), "fuzz.h5", {}); });
}

}  // namespace hqmm::fuzz
