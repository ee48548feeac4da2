// A short-lived process that reads a file through a third-party library.
//
// HDF5 and matio crash, loop for ever and overwrite memory on damaged files, whatever is checked
// beforehand. So they read in a child process that may take as much memory and processor time as
// the file's size explains, cannot open files and can write only to the pipe for its reply. The
// data come back through wire.hpp and are checked like any input. A crash there is an Error here.
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
  /// Both run in the child. `open` comes first and may open files; `read` may not, and sends
  /// what it has read. Each may throw an Error, which the caller gets, but `read` must not throw
  /// after it has begun to send.
  std::function<void()> open{};
  std::function<void(WireWriter&)> read{};
};

/// Runs the job and gives `take` what it sent. Throws the job's Error; kBadData if the
/// child crashed, exceeded its limits or sent nonsense; kInternal if no child can be started.
/// Safe while other threads run.
void run_in_sandbox(const SandboxJob& job, const std::function<void(WireReader&)>& take);

}  // namespace hqmm::detail
