// What is said when a job ends before its time, by whoever of its ranks is left to say it. mpirun
// ends all ranks when one has ended: a signal first, and a second later by force.
#pragma once

#include <sys/types.h>

#include <span>

#include "support/rank_world.hpp"

namespace hqmm::cli {

/// Before ranks know of each other, and after they have let go: one of them says that the job was
/// ended.
void watch_job(const World& here);
/// They know: the first that still lives says which one has ended. The processes by rank; 0 on
/// other machines.
void watch_ranks(int own, std::span<const pid_t> processes);
/// The work is done.
void forget_ranks();

/// Rank 0 has said why it ends: nobody else needs to speak.
void hush_others();
/// Another rank: lets rank 0 do so.
void be_hushed();

}  // namespace hqmm::cli
