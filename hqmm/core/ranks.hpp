// Ranks: the processes that work on one task together, as mpirun starts them.
//
// Rank 0 leads: it alone reads checkpoints, writes and speaks. The others have read the same input
// and then help() until they are dismissed. A request goes down a binomial tree, every rank does
// its share of it, and replies come up the tree, merged in the order of the ranks. Cells are handed
// out one by one instead: rank_cells.hpp.
//
// Who gets what never changes a result: shares are cut by the size of the work, and sums go along
// the tree that one process would take (tree_sum.hpp).
//
// How bytes travel is a RankLink's business; this library has none. The one of the command line is
// MPI (tools/mpi), the one of the tests threads of a process.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hqmm::detail {

/// One of `of` equal stretches of some work.
struct Share {
  std::size_t index = 0, of = 1;

  [[nodiscard]] std::size_t begin(std::size_t count) const { return count * index / of; }
  [[nodiscard]] std::size_t end(std::size_t count) const { return count * (index + 1) / of; }
  [[nodiscard]] bool whole() const noexcept { return of == 1; }
};

struct RankMessage {
  int from = 0;
  std::string bytes;
};

class RankLink {
 public:
  /// Called again and again while a call waits; may throw.
  using Waiting = std::function<void()>;

  RankLink() = default;
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  virtual ~RankLink() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Messages from one rank to another arrive in their order.
  virtual void send(int to, std::string_view bytes, const Waiting& waiting) = 0;
  /// The next message of a rank, if one has come.
  [[nodiscard]] virtual std::optional<RankMessage> poll(int from) = 0;
};

/// What a request asks for. Every rank makes its tasks the same way, from the same input.
struct RankTask {
  /// A rank's own share.
  std::function<std::string(std::string_view request)> work;
  /// Replies of neighbours, those of lower ranks first.
  std::function<std::string(std::string ours, std::string theirs)> merge;
  /// Ranks answer with messages of their own, and not up the tree.
  bool of_cells = false;
};
using RankTasks = std::map<std::string, RankTask>;

class Ranks {
 public:
  /// `waiting` is called while a message is waited for, and may throw.
  explicit Ranks(RankLink& link, RankLink::Waiting waiting = {})
      : link_(link), waiting_(std::move(waiting)) {}

  [[nodiscard]] int rank() const noexcept { return link_.rank(); }
  [[nodiscard]] int size() const noexcept { return link_.size(); }
  [[nodiscard]] bool leads() const noexcept { return rank() == 0; }
  [[nodiscard]] Share share() const {
    return {static_cast<std::size_t>(rank()), static_cast<std::size_t>(size())};
  }

  /// Rank 0: everyone's share of a request, merged. Throws what the lowest rank threw.
  [[nodiscard]] std::string ask(const std::string& name, std::string_view request,
                                const RankTask& task);
  /// Rank 0: the request alone, to all others.
  void tell(const std::string& name, std::string_view request);
  /// Rank 0: lets the others go.
  void dismiss();

  /// Another rank: does what it is asked until it is dismissed.
  void help(const RankTasks& tasks);
  /// The same for a rank that cannot: everything it is asked ends with that failure.
  void help_with_failure(const std::exception_ptr& failure);

  // Messages between two ranks.
  void send(int to, std::string_view bytes);
  [[nodiscard]] std::string receive(int from);
  [[nodiscard]] std::optional<std::string> poll(int from);
  /// Nothing to do just now: lets others run, longer and longer.
  void wait(std::size_t turn) const;

 private:
  void forward(std::string_view message);
  [[nodiscard]] std::string answer(std::string_view request, const RankTask& task);
  template <typename Handle>
  void serve(const Handle& handle);

  RankLink& link_;
  RankLink::Waiting waiting_;
};

/// An exception as bytes, and back: an Error as it was, named by its rank where another asks.
[[nodiscard]] std::string pack_failure(const std::exception_ptr& failure);
[[noreturn]] void throw_packed(std::string_view failure);

}  // namespace hqmm::detail
