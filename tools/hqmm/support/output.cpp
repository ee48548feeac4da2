#include "support/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_stream.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"

namespace hqmm::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16U;  // of a file, per call of the system

void require_written(bool good) {
  if (good) return;
  if (errno == EPIPE) throw ClosedPipe();
  throw fail(ErrorCode::kCannotWrite, "stdout cannot be written: {}", std::strerror(errno));
}

}  // namespace

struct Output::File {
  explicit File(const std::string& path)
      : stream(path), removed_on_interrupt(stream.temporary_path().string()) {}
  void write_pending() {
    stream.write(pending);
    pending.clear();
  }

  AtomicStream stream;
  RemovedOnInterrupt removed_on_interrupt;
  std::string pending;
};

Readers readers_of(const CommonOptions& common) {
  return common.json || common.tsv ? Readers::kPrograms : Readers::kPeople;
}

Output::Output(Readers readers, const std::string& path)
    : file_(path.empty() ? nullptr : std::make_unique<File>(path)),
      escape_(readers == Readers::kPeople ||
              (file_ ? file_->stream.is_terminal() : ::isatty(STDOUT_FILENO) == 1)) {}

Output::~Output() = default;

void Output::write(std::string_view text) {
  if (escape_) {
    write_bytes(printable_lines(text));
  } else {
    write_bytes(text);
  }
}

void Output::write_bytes(std::string_view bytes) {
  if (!file_) {
    require_written(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size());
    return;
  }
  file_->pending += bytes;
  if (file_->pending.size() >= kBlock) file_->write_pending();
}

void Output::flush() {
  if (!file_) require_written(std::fflush(stdout) == 0);
}

void Output::finish() {
  flush();
  if (!file_) return;
  file_->write_pending();
  file_->stream.finish();
}

bool wait_for_bytes(int descriptor, int milliseconds) {
  // poll() reports errors of a descriptor without being asked for them, and skips -1.
  std::array<pollfd, 2> both{{{descriptor, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  if (::poll(both.data(), both.size(), milliseconds) <= 0) return false;
  if ((both[1].revents & (POLLERR | POLLHUP)) != 0) throw ClosedPipe();
  if ((both[1].revents & POLLNVAL) != 0) {
    errno = EBADF;
    require_written(false);
  }
  return both[0].revents != 0;
}

void require_writable_place(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder)) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "there is no folder '{}'",
               printable(folder.string(), folder.string().size()));
  }
  if (std::filesystem::is_directory(path) || ::access(folder.c_str(), W_OK) != 0) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "cannot be written");
  }
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string dump_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace hqmm::cli
