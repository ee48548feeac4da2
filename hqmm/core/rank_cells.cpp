#include "hqmm/core/rank_cells.hpp"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "hqmm/core/interruption.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {
namespace {

// What other ranks say to rank 0: the next cell, please; this is a cell; I am done. A failure of
// the rank itself is one of pack_failure().
constexpr char kNext = 'n';
constexpr char kCell = 'c';
constexpr char kEnded = 'e';
constexpr useconds_t kNap = 100;  // microseconds: a cell takes much longer
constexpr std::size_t kNoCell = std::numeric_limits<std::size_t>::max();

class Leader {
 public:
  Leader(const Cells& cells, Ranks* ranks) : cells_(cells), ranks_(ranks) {}

  void run() {
    std::thread talks;
    if (ranks_ != nullptr) talks = std::thread([this] { talk(); });
    work();
    if (talks.joinable()) talks.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  [[nodiscard]] bool stopped() const { return failed_ || (cells_.stop && cells_.stop()); }

  [[nodiscard]] std::size_t next() {
    if (stopped()) return kNoCell;
    const std::size_t k = next_++;
    return k < cells_.count ? k : kNoCell;
  }

  void keep(std::size_t cell, std::exception_ptr failure) {
    const std::lock_guard lock(guard_);
    failed_ = true;
    if (failure_ && cell >= failed_at_) return;
    failed_at_ = cell;
    failure_ = std::move(failure);
  }

  void work() {
    const auto workers = static_cast<std::size_t>(resolve_threads(cells_.threads));
    parallel_for(workers, cells_.threads, [&](std::size_t) {
      for (std::size_t k = next(); k != kNoCell; k = next()) {
        try {
          check_interruption();
          cells_.here(k);
        } catch (...) {
          keep(k, std::current_exception());
        }
      }
    });
  }

  /// Hands cells to other ranks until all of them have ended. After a stop nobody is waited for.
  void talk() noexcept {
    try {
      const auto size = static_cast<std::size_t>(ranks_->size());
      std::vector<char> ended(size, 0);
      ended.front() = 1;
      std::size_t left = size - 1;
      while (left > 0) {
        bool silent = true;
        for (std::size_t r = 1; r < size; ++r) {
          if (ended[r] != 0) continue;
          const std::optional<std::string> message = ranks_->poll(static_cast<int>(r));
          if (!message) continue;
          silent = false;
          if (!hear(static_cast<int>(r), *message)) {
            ended[r] = 1;
            --left;
          }
        }
        ranks_->wait(0);             // may throw
        if (silent) ::usleep(kNap);  // this core has a cell to do
      }
    } catch (...) {
      keep(kNoCell - 1, std::current_exception());
    }
  }

  /// False when the rank has nothing more to say.
  bool hear(int from, std::string_view message) {
    Unpacker in(message);
    switch (in.number<char>()) {
      case kNext:
        ranks_->send(from, Packer().number(next()).take());
        return true;
      case kCell: {
        const auto cell = in.number<std::size_t>();
        take(cell, in);
        return true;
      }
      case kEnded:
        return false;
      default:
        try {
          throw_packed(message);
        } catch (...) {
          keep(kNoCell - 1, std::current_exception());
        }
        return false;
    }
  }

  void take(std::size_t cell, Unpacker& in) {
    try {
      const bool good = in.number<char>() != 0;
      const std::string_view bytes = in.text();
      if (!good) throw_packed(bytes);
      cells_.take(cell, bytes);
    } catch (...) {
      keep(cell, std::current_exception());
    }
  }

  const Cells& cells_;
  Ranks* ranks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex guard_;
  std::size_t failed_at_ = kNoCell;
  std::exception_ptr failure_;
};

}  // namespace

void hand_out(const Cells& cells, Ranks* ranks, const std::string& name, std::string_view request) {
  if (ranks != nullptr) ranks->tell(name, request);
  Leader(cells, ranks).run();
}

RankTask cells_task(Ranks& ranks, int threads,
                    std::function<std::string(std::size_t, std::string_view)> there) {
  RankTask out;
  out.of_cells = true;
  out.work = [&ranks, threads, there = std::move(there)](std::string_view request) {
    std::mutex guard;  // of a question and its answer
    const auto next = [&] {
      const std::lock_guard lock(guard);
      ranks.send(0, std::string(1, kNext));
      return Unpacker(ranks.receive(0)).number<std::size_t>();
    };
    const auto workers = static_cast<std::size_t>(resolve_threads(threads));
    parallel_for(workers, threads, [&](std::size_t) {
      for (std::size_t k = next(); k != kNoCell; k = next()) {
        Packer message;
        message.number(kCell).number(k);
        try {
          const std::string bytes = there(k, request);
          message.number(char{1}).text(bytes);
        } catch (...) {
          message.number(char{0}).text(pack_failure(std::current_exception()));
        }
        const std::lock_guard lock(guard);
        ranks.send(0, message.take());
      }
    });
    ranks.send(0, std::string(1, kEnded));
    return std::string();
  };
  return out;
}

}  // namespace hqmm::detail
