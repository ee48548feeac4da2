#include "support/memory.hpp"

#include <fmt/format.h>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/memory_budget.hpp"
#include "support/command.hpp"
#include "support/words.hpp"

namespace hqmm::cli {
namespace {

/// 517M: rounded up, as --memory takes it.
std::string size_text(std::size_t bytes) {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  return fmt::format("{}M", (bytes + kMega - 1) / kMega);
}

}  // namespace

void require_within(std::size_t memory) {
  if (memory == 0) return;
  const ResidentMemory now = resident_memory();
  const std::size_t kept = now.all - now.of_files;  // the rest can be let go
  if (kept <= memory / 2) return;
  throw fail(ErrorCode::kUsage,
             "{} is too little: the program and the lengths of the sequences take {} already; give "
             "at least {}",
             option("memory", size_text(memory)), size_text(kept), size_text(2 * kept));
}

void warn_if_beyond(std::size_t memory) {
  const std::size_t peak = peak_memory();
  if (memory == 0 || peak <= memory) return;
  warn(fmt::format("this took {} of memory, more than {}", size_text(peak),
                   flag_words("memory", size_text(memory))));
}

}  // namespace hqmm::cli
