#include "hqmm/io/tokens.hpp"

#include <algorithm>
#include <cctype>

namespace hqmm::detail {

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  constexpr std::string_view kSeparators = " \t,";
  std::vector<std::string_view> out;
  for (std::size_t from = text.find_first_not_of(kSeparators); from != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, from), text.size());
    out.push_back(text.substr(from, end - from));
    from = text.find_first_not_of(kSeparators, end);
  }
  return out;
}

bool is_letters(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c == '-' || c == '*' || c == '?';
  });
}

bool is_symbol(std::string_view token, const std::optional<Alphabet>& alphabet) {
  if (token == "?") return true;
  if (!alphabet || alphabet->kind() == Alphabet::Kind::kIntegers) return is_integer(token);
  if (alphabet->find(token)) return true;
  return alphabet->single_letters() && std::all_of(token.begin(), token.end(), [&](char c) {
           return alphabet->find_letter(c).has_value() || alphabet->is_ambiguity_code(c);
         });
}

bool all_symbols(std::string_view text, const std::optional<Alphabet>& alphabet) {
  const auto tokens = tokens_of(text);
  return !tokens.empty() && std::all_of(tokens.begin(), tokens.end(), [&](std::string_view token) {
    return is_symbol(token, alphabet);
  });
}

}  // namespace hqmm::detail
