// Ending a long call from outside. Who makes the call says when, by a scope around it; loops over
// symbols and sequences look now and then, and leave with an exception. Training has stop requests
// of its own, which keep what is learned: learn/learner.hpp.
#pragma once

#include <cstddef>
#include <functional>

namespace hqmm::detail {

/// Until it ends, check_interruption() asks `asked`: on this thread, and on those that
/// parallel_for() works with on its behalf, several at a time. Scopes nest; the innermost one
/// counts.
class InterruptionScope {
 public:
  explicit InterruptionScope(const std::function<bool()>* asked) noexcept;
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;
  ~InterruptionScope();

 private:
  const std::function<bool()>* outer_;
};

/// What the innermost scope of this thread asks, or null: to hand it on to another thread.
[[nodiscard]] const std::function<bool()>* current_interruption() noexcept;

/// Throws kInterrupted when the scope says so; does nothing outside of any.
void check_interruption();

/// The same at every 64th step of a loop whose steps take a microsecond or so.
inline void check_interruption(std::size_t step) {
  if (step % 64 == 0) check_interruption();
}

}  // namespace hqmm::detail
