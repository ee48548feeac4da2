// A checkpoint as one HDF5 file: the trainer's bookkeeping as JSON, the learner's arrays, the best
// model as the bytes of a model file, sealed by a line with a checksum after the HDF5 content.
#pragma once

#include <string>

#include "hqmm/learn/trainer.hpp"

namespace hqmm::detail {

/// `run` is a fingerprint of the run's configuration, so that a checkpoint is not taken for another
/// run's.
[[nodiscard]] std::string serialize_checkpoint(const Checkpoint& checkpoint,
                                               const std::string& run);
/// The bytes of the HDF5 file with the line that seals them.
[[nodiscard]] std::string seal_checkpoint(const std::string& bytes);
/// Throws kBadData naming `file`.
[[nodiscard]] Checkpoint parse_checkpoint(const std::string& bytes, const std::string& file,
                                          const std::string& run);

}  // namespace hqmm::detail
