// Numbers and texts as bytes, between processes of one program on machines of one kind. What is
// unpacked comes from the same program; only its length is checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

template <typename T>
concept Packable = std::is_trivially_copyable_v<T>;

class Packer {
 public:
  template <Packable T>
  Packer& number(const T& value) {
    return raw(&value, sizeof value);
  }
  template <Packable T>
  Packer& numbers(std::span<const T> values) {
    number(std::uint64_t{values.size()});
    return raw(values.data(), values.size_bytes());
  }
  Packer& text(std::string_view text) {
    number(std::uint64_t{text.size()});
    return raw(text.data(), text.size());
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  Packer& raw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    return *this;
  }

  std::string bytes_;
};

class Unpacker {
 public:
  /// Keeps a reference to the bytes.
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <Packable T>
  [[nodiscard]] T number() {
    T value{};
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  template <Packable T>
  [[nodiscard]] std::vector<T> numbers() {
    std::vector<T> out(count(sizeof(T)));
    fill(std::span(out));
    return out;
  }
  /// As many as numbers() had: into memory that is there.
  template <Packable T>
  void numbers(std::span<T> into) {
    if (count(sizeof(T)) != into.size()) throw misfit();
    fill(into);
  }
  [[nodiscard]] std::string_view text() {
    const std::size_t size = count(1);
    return {next(size), size};
  }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

 private:
  [[nodiscard]] static Error misfit() {
    return fail(ErrorCode::kInternal, "a message of another process is not what was asked for");
  }
  [[nodiscard]] std::size_t count(std::size_t size) {
    const auto out = number<std::uint64_t>();
    if (out > left_.size() / size) throw misfit();
    return out;
  }
  template <typename T>
  void fill(std::span<T> into) {
    if (!into.empty()) std::memcpy(into.data(), next(into.size_bytes()), into.size_bytes());
  }
  const char* next(std::size_t size) {
    if (size > left_.size()) throw misfit();
    const char* const out = left_.data();
    left_.remove_prefix(size);
    return out;
  }

  std::string_view left_;
};

}  // namespace hqmm::detail
