#include "hqmm/core/ranks.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"

namespace hqmm::detail {
namespace {

constexpr char kDismissed = 'd';
constexpr char kAsked = 'a';
constexpr char kGood = 'g';
constexpr char kFailed = 'f';

/// Those that a rank hands requests on to: its subtree is itself and those of its children, a
/// stretch of ranks each, in ascending order.
std::vector<int> children_of(int rank, int size) {
  std::vector<int> out;
  for (int bit = 1; (rank & bit) == 0 && (rank | bit) < size; bit *= 2) out.push_back(rank | bit);
  return out;
}

int parent_of(int rank) { return rank & (rank - 1); }

}  // namespace

std::string pack_failure(const std::exception_ptr& failure) {
  Packer out;
  out.number(kFailed);
  const auto put = [&out](ErrorCode code, std::string_view text, std::string_view place) {
    out.number(static_cast<int>(code)).text(text).text(place);
  };
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    put(error.code(), error.marked(), error.where().text());
  } catch (const std::bad_alloc&) {
    put(ErrorCode::kInternal, "out of memory", "");
  } catch (const std::exception& error) {
    put(ErrorCode::kInternal, error.what(), "");
  }
  return out.take();
}

void throw_packed(std::string_view failure) {
  Unpacker in(failure);
  static_cast<void>(in.number<char>());
  const auto code = static_cast<ErrorCode>(in.number<int>());
  const std::string text(in.text());
  const std::string place(in.text());
  throw Error(code, text, Where{.file = place});
}

void Ranks::wait(std::size_t turn) const {
  if (waiting_) waiting_();
  if (turn < 200) return;
  if (turn < 20000) {
    ::sched_yield();
  } else {
    ::usleep(turn < 40000 ? 50 : 500);
  }
}

void Ranks::send(int to, std::string_view bytes) {
  link_.send(to, bytes, [this, turn = std::size_t{0}]() mutable { wait(turn++); });
}

std::string Ranks::receive(int from) {
  for (std::size_t turn = 0;; ++turn) {
    if (auto found = link_.poll(from)) return std::move(found->bytes);
    wait(turn);
  }
}

std::optional<std::string> Ranks::poll(int from) {
  if (auto found = link_.poll(from)) return std::move(found->bytes);
  return {};
}

void Ranks::forward(std::string_view message) {
  std::vector<int> children = children_of(rank(), size());
  std::reverse(children.begin(), children.end());
  for (const int child : children) send(child, message);
}

/// This rank's share and those of its subtree. A failure takes the place of a reply.
std::string Ranks::answer(std::string_view request, const RankTask& task) {
  std::string out(1, kGood);
  try {
    out += task.work(request);
  } catch (...) {
    out = pack_failure(std::current_exception());
  }
  for (const int child : children_of(rank(), size())) {
    std::string theirs = receive(child);
    if (out.front() == kFailed) continue;
    if (theirs.front() == kFailed) {
      out = std::move(theirs);
    } else {
      out = kGood + task.merge(out.substr(1), theirs.substr(1));
    }
  }
  return out;
}

void Ranks::tell(const std::string& name, std::string_view request) {
  Packer message;
  message.number(kAsked).text(name).text(request);
  forward(message.take());
}

std::string Ranks::ask(const std::string& name, std::string_view request, const RankTask& task) {
  tell(name, request);
  std::string out = answer(request, task);
  if (out.front() == kFailed) throw_packed(out);
  return out.substr(1);
}

void Ranks::dismiss() { forward(std::string(1, kDismissed)); }

template <typename Handle>
void Ranks::serve(const Handle& handle) {
  for (;;) {
    const std::string message = receive(parent_of(rank()));
    forward(message);
    Unpacker in(message);
    if (in.number<char>() == kDismissed) return;
    const std::string name(in.text());
    handle(name, in.text());
  }
}

void Ranks::help(const RankTasks& tasks) {
  serve([&](const std::string& name, std::string_view request) {
    const auto found = tasks.find(name);
    if (found == tasks.end())
      throw fail(ErrorCode::kInternal, "rank {} does not know the task {}", rank(), name);
    if (found->second.of_cells) {
      static_cast<void>(found->second.work(request));
    } else {
      send(parent_of(rank()), answer(request, found->second));
    }
  });
}

void Ranks::help_with_failure(const std::exception_ptr& failure) {
  const std::string packed = pack_failure(failure);
  const auto throws = [&](std::string_view) -> std::string { std::rethrow_exception(failure); };
  const RankTask task{throws, [](std::string ours, const std::string&) { return ours; }};
  serve([&](const std::string& name, std::string_view request) {
    // Of cells, rank 0 hears from every rank itself.
    if (name.starts_with("cells")) {
      send(0, packed);
    } else {
      send(parent_of(rank()), answer(request, task));
    }
  });
}

}  // namespace hqmm::detail
