// Ranks as threads of one process: what MPI is to the command line. Messages may take their time.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hqmm/core/ranks.hpp"

namespace hqmm::detail::testing {

class Mail {
 public:
  explicit Mail(std::chrono::microseconds delay = {}) : delay_(delay) {}

  void put(int from, int to, std::string_view bytes) {
    const std::lock_guard lock(guard_);
    boxes_[{from, to}].push_back({Clock::now() + delay_, std::string(bytes)});
  }
  std::optional<RankMessage> take(int from, int to) {
    const std::lock_guard lock(guard_);
    auto& box = boxes_[{from, to}];
    if (box.empty() || box.front().arrives > Clock::now()) return {};
    RankMessage out{from, std::move(box.front().bytes)};
    box.pop_front();
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Letter {
    Clock::time_point arrives;
    std::string bytes;
  };
  std::chrono::microseconds delay_;
  std::mutex guard_;
  std::map<std::pair<int, int>, std::deque<Letter>> boxes_;
};

class ThreadLink final : public RankLink {
 public:
  ThreadLink(Mail& mail, int rank, int size) : mail_(mail), rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  void send(int to, std::string_view bytes, const Waiting& /*waiting*/) override {
    mail_.put(rank_, to, bytes);
  }
  [[nodiscard]] std::optional<RankMessage> poll(int from) override {
    return mail_.take(from, rank_);
  }

 private:
  Mail& mail_;
  int rank_, size_;
};

/// Rank 0 leads on this thread, and lets the others go however it ends; the others help.
inline void on_ranks(int size, const std::function<void(Ranks&)>& lead,
                     const std::function<void(Ranks&)>& help,
                     std::chrono::microseconds delay = {}) {
  Mail mail(delay);
  std::vector<std::thread> others;
  for (int rank = 1; rank < size; ++rank) {
    others.emplace_back([&mail, &help, rank, size] {
      ThreadLink link(mail, rank, size);
      Ranks ranks(link);
      help(ranks);
    });
  }
  ThreadLink link(mail, 0, size);
  Ranks ranks(link);
  try {
    lead(ranks);
  } catch (...) {
    ranks.dismiss();
    for (std::thread& other : others) other.join();
    throw;
  }
  ranks.dismiss();
  for (std::thread& other : others) other.join();
}

}  // namespace hqmm::detail::testing
