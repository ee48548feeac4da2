// Classifier files: HDF5, read in a process of its own.
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void classifier(std::string_view bytes) {
  read_or_refuse([&] { (void)parse_classifier(std::string(bytes), "fuzz.h5"); });
}

}  // namespace hqmm::fuzz
