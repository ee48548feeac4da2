// --memory of the commands that use a model; those that learn one have it from the options' table.
#pragma once

#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>

#include "hqmm/learn/option_table.hpp"
#include "support/command_line.hpp"
#include "support/option_flags.hpp"

namespace hqmm::cli {

class MemoryFlag {
 public:
  /// Keeps its place: what is parsed goes here.
  void add_to(Command command, std::string_view group) {
    const OptionRow<TrainOptions>* row = find_option(train_option_table(), "memory");
    assert(row != nullptr);
    OptionText text = flag_of(*row, value_text(row->get({})));
    text.group = group;
    command.add(text, [this, row](const std::string& value) {
      TrainOptions options;
      set_option(*row, options, parsed(*row, value));
      bytes_ = options.memory;
    });
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace hqmm::cli
