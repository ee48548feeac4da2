// How a sandbox (io/sandbox.hpp) hands back what it read: numbers and texts as bytes, on one
// machine. The reader trusts nothing: the process at the other end may have been corrupted by the
// file it read.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hqmm::detail {

template <typename T>
concept WireNumber = std::is_trivially_copyable_v<T>;

class WireWriter {
 public:
  using Sink = std::function<void(std::string_view bytes)>;
  explicit WireWriter(Sink sink) : sink_(std::move(sink)) {}

  template <WireNumber T>
  void number(const T& value) {
    raw(&value, sizeof value);
  }
  template <WireNumber T>
  void numbers(const std::vector<T>& values) {
    number(std::uint64_t{values.size()});
    raw(values.data(), values.size() * sizeof(T));
  }
  void text(std::string_view text);
  void texts(const std::vector<std::string>& texts);
  void optional_text(const std::optional<std::string>& text);

 private:
  void raw(const void* data, std::size_t size) {
    if (size > 0) sink_({static_cast<const char*>(data), size});
  }

  Sink sink_;
};

/// Thrown when the bytes end too early, claim too much or make no sense.
class WireFault : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the reply makes no sense"; }
};

class WireReader {
 public:
  /// Fills up to `size` bytes and says how many; 0 at the end.
  using Source = std::function<std::size_t(char* to, std::size_t size)>;
  /// No more than `most` bytes are taken.
  WireReader(Source source, std::size_t most) : source_(std::move(source)), left_(most) {}

  template <WireNumber T>
  [[nodiscard]] T number() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  /// Memory grows with the bytes that come, not with what is announced.
  template <WireNumber T>
  [[nodiscard]] std::vector<T> numbers() {
    std::vector<T> out;
    for (auto left = number<std::uint64_t>(); left > 0;) {
      const std::size_t block = left < kBlock / sizeof(T) ? left : kBlock / sizeof(T);
      const std::size_t done = out.size();
      out.resize(done + block);
      raw(out.data() + done, block * sizeof(T));
      left -= block;
    }
    return out;
  }
  [[nodiscard]] bool flag();
  [[nodiscard]] std::string text();
  [[nodiscard]] std::vector<std::string> texts();
  [[nodiscard]] std::optional<std::string> optional_text();

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  void raw(void* to, std::size_t size);

  Source source_;
  std::size_t left_;
};

}  // namespace hqmm::detail
