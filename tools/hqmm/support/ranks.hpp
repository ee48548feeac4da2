// The ranks of a job under mpirun. Rank 0 reads, writes and speaks like any hqmm; the others are
// mute, read the same input and help. A command that cannot be shared runs on rank 0 alone.
#pragma once

#include <exception>
#include <functional>

#include "hqmm/core/ranks.hpp"

namespace hqmm::cli {

/// Whether this process is another rank than 0, as the environment says.
[[nodiscard]] bool is_other_rank();

/// Whether the command of these arguments is one that ranks share.
[[nodiscard]] bool is_shared_command(int argc, char** argv);

/// To be called before a shared command: from here on an end of the job is spoken of.
void begin_as_rank();

/// The ranks of the job, connected at the first call; null without mpirun, or for one rank. Throws
/// kUsage when this hqmm has no MPI.
[[nodiscard]] Ranks* ranks();

/// Whether ranks() has connected this process with others.
[[nodiscard]] bool works_with_others();

/// How to continue after a rank has ended, for the line that says so: "resume with …".
void on_lost_rank(const std::string& advice);

/// The end of main() after a command that went well: lets the other ranks go.
void leave_ranks();
/// At a failure on rank 0, which says what it was: mpirun ends the others, and they have nothing to add.
void leave_ranks_with_failure();
/// On another rank, after a failure: waits to be asked, and answers with it. Rank 0 says it, and
/// mpirun ends the job.
void fail_on_other_rank(const std::exception_ptr& failure);

}  // namespace hqmm::cli
