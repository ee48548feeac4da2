#include "hqmm/io/input.hpp"

#include <utility>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

Input::Input(const std::string& path, std::optional<double> max_ratio,
             std::shared_ptr<MemoryBudget> budget)
    : source_(path, max_ratio), budget_(std::move(budget)) {
  head_.resize(kHeadSize);
  std::size_t used = 0;
  while (used < kHeadSize) {
    const std::size_t got = source_.read({head_.data() + used, kHeadSize - used});
    if (got == 0) break;
    used += got;
  }
  head_.resize(used);
}

std::string_view Input::next_block() {
  if (!head_given_) {
    head_given_ = true;
    if (!head_.empty()) return head_;
  }
  if (head_is_all()) return {};
  buffer_.resize(kHeadSize);
  return {buffer_.data(), source_.read(buffer_)};
}

SequenceSet Input::new_set(Alphabet alphabet) const {
  SequenceSet out(std::move(alphabet));
  out.open_block().keep_within(budget_);
  return out;
}

std::string Input::rest() {
  std::string out;
  for (auto block = next_block(); !block.empty(); block = next_block()) out += block;
  return out;
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool any = false;
  for (;;) {
    if (block_.empty()) block_ = input_->next_block();
    if (block_.empty()) break;
    any = true;
    const std::size_t end = block_.find('\n');
    line += block_.substr(0, end);
    if (end != std::string_view::npos) {
      block_.remove_prefix(end + 1);
      break;
    }
    block_ = {};
  }
  if (!any) return false;
  if (line.ends_with('\r')) line.pop_back();
  if (++number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return true;
}

std::vector<std::string_view> head_lines(const Input& input, CutLine cut) {
  std::string_view text = input.head();
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_cut = end == std::string_view::npos && !input.head_is_all();
    if (is_cut && cut == CutLine::kLeaveOut && !lines.empty()) break;
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void require_name_length(std::string_view name, const Where& where) {
  constexpr std::size_t kLongestName = 64 * 1024;
  if (name.size() <= kLongestName) return;
  throw fail(ErrorCode::kBadData, where, "the name '{}' has more than {} bytes", printable(name),
             kLongestName);
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace hqmm::detail
