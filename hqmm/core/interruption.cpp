#include "hqmm/core/interruption.hpp"

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

thread_local const std::function<bool()>* innermost_scope = nullptr;

}  // namespace

InterruptionScope::InterruptionScope(const std::function<bool()>* asked) noexcept
    : outer_(innermost_scope) {
  innermost_scope = asked;
}

InterruptionScope::~InterruptionScope() { innermost_scope = outer_; }

const std::function<bool()>* current_interruption() noexcept { return innermost_scope; }

void check_interruption() {
  if (innermost_scope != nullptr && (*innermost_scope)())
    throw fail(ErrorCode::kInterrupted, "interrupted");
}

}  // namespace hqmm::detail
