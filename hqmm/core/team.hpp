// Team: the threads that help with parallel loops.
//
// A loop is worked at by whoever called it, and by helpers as far as there are idle ones. Loops
// nest: a helper may open a loop of its own, and whoever waits for helpers does nothing else
// meanwhile. Helpers wait for the next loop awake for a moment, because waking a thread takes as
// long as a small batch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace hqmm::detail {

/// Work that several threads can do at once, until there is nothing left.
class TeamWork {
 public:
  TeamWork() = default;
  TeamWork(const TeamWork&) = delete;
  TeamWork& operator=(const TeamWork&) = delete;
  virtual ~TeamWork() = default;

  /// `who` is 0 for the caller and the helper's number otherwise, the same from one work to the
  /// next: what a thread touched last time is in its cache.
  virtual void work(int who) noexcept = 0;
  [[nodiscard]] virtual bool exhausted() const noexcept = 0;

 private:
  friend class Team;
  int wanted_ = 0;               // helpers that may still come; guarded by the team
  std::atomic<int> helping_{0};  // changed under the team's guard, looked at without
};

class Team {
 public:
  /// The one of this process, which lives as long as it does.
  static Team& instance();

  /// Works at `work` with at most so many helpers; returns when nobody does any more.
  void share(TeamWork& work, int helpers);

 private:
  Team();
  void hire(int helpers);
  void help(int who);
  /// A piece of work that wants a helper, or null.
  TeamWork* join();
  void leave(TeamWork& work);
  void close(TeamWork& work);
  void wait_for_news(std::uint32_t seen);

  std::mutex guard_;
  std::condition_variable left_;
  std::vector<TeamWork*> open_;         // the oldest first
  int hired_ = 0;                       // helpers there are
  std::atomic<std::uint32_t> news_{0};  // changes whenever something is opened
};

/// Processors that this process may run on.
[[nodiscard]] int usable_cores();

}  // namespace hqmm::detail
