// A short-lived process that reads a file through a third-party library.
//
// HDF5 and matio crash, loop for ever and overwrite memory on damaged files, whatever is checked
// beforehand. So they read in a child process that may take so much memory and processor time as
// the file's size explains, can open no file and has none but the reply's pipe to write to. What it
// read comes back through wire.hpp and is checked like any input. A crash there is an Error here.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "hqmm/io/wire.hpp"

namespace hqmm::detail {

struct SandboxJob {
  const std::string& file;  // named in errors
  std::size_t size;         // its bytes
  double max_ratio;         // how many times its size it may unpack to
  int data = -1;            // a descriptor that the child keeps; -1: none
  /// Both run in the child. `open` comes first and may open files; `read` may not, and hands over
  /// what it has read. Each may throw an Error, which the caller gets, but `read` none after it has
  /// begun to hand over.
  std::function<void()> open{};
  std::function<void(WireWriter&)> read{};
};

/// Runs the job and gives `take` what it handed over. Throws the job's Error; kBadData when the
/// child crashed, ran out of its limits or sent nonsense; kInternal when there can be no child.
/// Safe while other threads run.
void run_in_sandbox(const SandboxJob& job, const std::function<void(WireReader&)>& take);

}  // namespace hqmm::detail
