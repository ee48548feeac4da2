// --device of the commands that use a model; those that learn one have it from the options' table.
#pragma once

#include <string>

#include "hqmm/learn/enum_names.hpp"
#include "support/command_line.hpp"

namespace hqmm::cli {

class DeviceFlag {
 public:
  void add_to(Command command, const char* group) {
    command
        .add_option(
            "--device", name_,
            "Where likelihoods are computed: cpu, or cuda, an NVIDIA GPU. The numbers agree "
            "to rounding")
        .check(one_of({"cpu", "cuda"}))
        .capture_default_str()
        .group(group)
        .type_name("D");
  }
  [[nodiscard]] DeviceKind kind() const { return enum_named<DeviceKind>(name_); }

 private:
  std::string name_ = "cpu";
};

}  // namespace hqmm::cli
