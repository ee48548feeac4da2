#include "support/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hqmm/core/fail.hpp"

namespace hqmm::cli {

std::string flag_words(std::string_view id, std::string_view value) {
  std::string out = "--" + std::string(id);
  std::replace(out.begin(), out.end(), '_', '-');
  if (!value.empty()) out += " " + std::string(value);
  return out;
}

std::string advice_on(const Error& error) {
  const std::string file = printable(error.where().file, 200);
  switch (error.situation()) {
    case Situation::kPlain:
      break;
    case Situation::kClassifierFile:
      return fmt::format(": take one out with 'hqmm classify extract {} --class NAME -o part.h5'",
                         file);
    case Situation::kRunExists:
      return fmt::format(": continue it with --resume {}, or name another folder", file);
  }
  return {};
}

}  // namespace hqmm::cli
