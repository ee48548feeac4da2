#include "hqmm/io/foreign_code.hpp"

namespace hqmm {
namespace {

thread_local const char* volatile current_file = nullptr;

}  // namespace

ForeignCode::ForeignCode(const std::string& file) noexcept : outer_(current_file) {
  current_file = file.c_str();
}

ForeignCode::~ForeignCode() { current_file = outer_; }

const char* ForeignCode::file() noexcept { return current_file; }

}  // namespace hqmm
