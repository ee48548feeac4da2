#include "hqmm/core/team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "hqmm/core/signals_blocked.hpp"

namespace hqmm::detail {
namespace {

/// How long to wait awake: a few times what it takes to wake a thread.
constexpr auto kAwake = std::chrono::microseconds(150);

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Until `done` or the time is over; whether it is done.
template <typename Done>
bool wait_awake(Done done) {
  const auto end = std::chrono::steady_clock::now() + kAwake;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace

Team& Team::instance() {
  // Helpers sleep in it until the process ends, so it is never destroyed.
  static Team* const team = new Team;
  return *team;
}

Team::Team() {
  // A child of fork() has no helpers; whatever they were at is the parent's.
  pthread_atfork([] { instance().guard_.lock(); }, [] { instance().guard_.unlock(); },
                 [] {
                   instance().hired_ = 0;
                   instance().open_.clear();
                   instance().guard_.unlock();
                 });
}

void Team::share(TeamWork& work, int helpers) {
  helpers = std::min(helpers, usable_cores() - 1);
  if (helpers <= 0) return work.work(0);
  {
    const std::lock_guard lock(guard_);
    hire(helpers);
    work.wanted_ = helpers;
    open_.push_back(&work);
    ++news_;
  }
  news_.notify_all();
  work.work(0);
  close(work);
}

/// With `guard_` held. A helper more or less changes no result, so a system that is out of threads
/// is none of the caller's concern.
void Team::hire(int helpers) {
  const SignalsBlocked begin_without;
  try {
    for (; hired_ < helpers; ++hired_)
      std::thread([this, who = hired_ + 1] { help(who); }).detach();
  } catch (const std::system_error&) {
    return;
  }
}

void Team::help(int who) {
  for (;;) {
    const std::uint32_t seen = news_;
    if (TeamWork* work = join()) {
      work->work(who);
      leave(*work);
    } else {
      wait_for_news(seen);
    }
  }
}

TeamWork* Team::join() {
  const std::lock_guard lock(guard_);
  for (TeamWork* work : open_) {
    if (work->wanted_ == 0 || work->exhausted()) continue;
    --work->wanted_;
    ++work->helping_;
    return work;
  }
  return nullptr;
}

/// The work may be gone as soon as the guard is let go.
void Team::leave(TeamWork& work) {
  const std::lock_guard lock(guard_);
  if (--work.helping_ == 0) left_.notify_all();
}

void Team::close(TeamWork& work) {
  std::unique_lock lock(guard_);
  std::erase(open_, &work);
  const auto done = [&] { return work.helping_ == 0; };
  if (done()) return;
  lock.unlock();
  wait_awake(done);
  lock.lock();  // whoever left last has let go of it
  left_.wait(lock, done);
}

void Team::wait_for_news(std::uint32_t seen) {
  if (!wait_awake([&] { return news_ != seen; })) news_.wait(seen);
}

int usable_cores() {
  static const int cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
      return CPU_COUNT(&set);
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return cores;
}

}  // namespace hqmm::detail
