#include "hqmm/io/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimited = false;  // a sanitizer needs memory and system calls of its own
#else
constexpr bool kLimited = true;
#endif

const std::string kFile = "some.h5";

void ignore(WireReader& /*in*/) {}

/// What a read in a sandbox hands over, as one number.
std::int64_t number_from(const std::function<std::int64_t()>& read) {
  SandboxJob job{kFile, 0, 1.0};
  job.read = [&](WireWriter& out) { out.number(read()); };
  std::int64_t found = 0;
  run_in_sandbox(job, [&](WireReader& in) { found = in.number<std::int64_t>(); });
  return found;
}

void expect_damaged(const std::function<std::int64_t()>& read, const char* says = "damaged") {
  testing::expect_error(ErrorCode::kBadData, says, [&] { (void)number_from(read); });
}

TEST(Sandbox, HandsOverWhatItRead) {
  EXPECT_EQ(number_from([] { return 42; }), 42);
  // More than a pipe holds.
  const std::vector<double> numbers(1 << 20, 1.5);
  SandboxJob job{kFile, numbers.size() * 8, 1.0};
  job.read = [&](WireWriter& out) {
    out.numbers(numbers);
    out.text("end");
  };
  run_in_sandbox(job, [&](WireReader& in) {
    EXPECT_EQ(in.numbers<double>(), numbers);
    EXPECT_EQ(in.text(), "end");
  });
}

TEST(Sandbox, ErrorsArriveWhole) {
  SandboxJob job{kFile, 0, 1.0};
  job.read = [&](WireWriter&) {
    throw fail(ErrorCode::kBadData, Where{.file = kFile, .line = 3, .column = 4}, "use {}",
               option("max_ratio", 7))
        .in(Situation::kClassifierFile);
  };
  try {
    run_in_sandbox(job, ignore);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_EQ(error.situation(), Situation::kClassifierFile);
    EXPECT_EQ(error.where().text(), "some.h5:3:4");
    EXPECT_NE(error.marked(), error.message());  // the option is still one
  }
}

TEST(Sandbox, WhateverEndsItIsAnError) {
  expect_damaged([]() -> std::int64_t { std::abort(); });
  expect_damaged([]() -> std::int64_t { ::_exit(0); });
  expect_damaged([]() -> std::int64_t { throw std::runtime_error("something else"); });
  if (!kLimited) return;
  expect_damaged([]() -> std::int64_t {
    volatile int* nowhere = nullptr;
    return *nowhere;
  });
}

TEST(Sandbox, NonsenseIsAnError) {
  SandboxJob job{kFile, 0, 1.0};
  const auto take = [](WireReader& in) { (void)in.numbers<double>(); };
  const auto expect_nonsense = [&](const std::function<void(WireWriter&)>& read) {
    job.read = read;
    testing::expect_error(ErrorCode::kBadData, "damaged", [&] { run_in_sandbox(job, take); });
  };
  expect_nonsense([](WireWriter& out) { out.number(std::uint64_t{1} << 60); });
  expect_nonsense([](WireWriter& out) { out.number(std::uint32_t{1}); });
  expect_nonsense([](WireWriter& out) {  // more than was asked for
    out.number(std::uint64_t{0});
    out.number(std::uint64_t{0});
  });
  expect_nonsense([](WireWriter& out) {  // an error half-way
    out.number(std::uint64_t{5});
    throw fail(ErrorCode::kUsage, "too late");
  });
}

TEST(Sandbox, TakesNoMoreMemoryThanTheFileExplains) {
  if (!kLimited) GTEST_SKIP() << "skipped: a sanitizer needs all memory";
  expect_damaged(
      [] {
        const std::vector<char> block(std::size_t{1} << 30, 'x');
        return std::int64_t{block[block.size() / 2]};
      },
      "more memory");
}

TEST(Sandbox, TakesNoMoreTimeThanTheFileExplains) {
  expect_damaged(
      []() -> std::int64_t {
        volatile bool on = true;
        while (on) {
        }
        return 0;
      },
      "longer");
}

/// Time that passes is nobody's fault: Ctrl-Z, a busy machine, a debugger.
TEST(Sandbox, MayBeKeptWaiting) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  SandboxJob job{kFile, 0, 1.0, ends[0]};
  job.read = [&](WireWriter& out) {
    char byte = 0;
    if (::read(ends[0], &byte, 1) == 1) out.number(byte);
  };
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::seconds(4));  // more than the processor time allowed
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
  });
  run_in_sandbox(job, [](WireReader& in) { EXPECT_EQ(in.number<char>(), 'x'); });
  late.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Sandbox, ReachesNothing) {
  if (!kLimited) GTEST_SKIP() << "skipped: a sanitizer needs all system calls";
  const auto refused = [](const std::function<long()>& call) {
    return number_from([&] { return call() < 0 ? errno : 0; });
  };
  EXPECT_EQ(refused([] { return ::open("/etc/passwd", O_RDONLY | O_CLOEXEC); }), EPERM);
  EXPECT_EQ(refused([] { return ::open("made", O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }), EPERM);
  EXPECT_EQ(refused([] { return ::unlink("made"); }), EPERM);
  EXPECT_EQ(refused([] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }), EPERM);
  EXPECT_EQ(refused([] { return ::fork(); }), EPERM);
  EXPECT_EQ(refused([] { return ::kill(::getppid(), 0); }), EPERM);
  EXPECT_EQ(refused([] { return ::write(STDERR_FILENO, "x", 1); }), EPERM);
  struct stat status {};
  EXPECT_EQ(refused([&] { return ::stat("/", &status); }), EPERM);
}

TEST(Sandbox, HasNoDescriptorOfTheProgram) {
  const int open_here = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_GE(open_here, 0);
  EXPECT_EQ(number_from([&] {
              char byte = 0;
              return ::read(open_here, &byte, 1) < 0 ? errno : 0;
            }),
            EBADF);
  ::close(open_here);
}

TEST(Sandbox, RunsBesideOtherThreads) {
  std::vector<std::thread> threads;
  std::vector<std::int64_t> found(8, -1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round)
        found[i] = number_from([&] { return static_cast<std::int64_t>(i); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<std::int64_t>(i));
}

TEST(Sandbox, LeavesTheProgramsSignalsAlone) {
  sigset_t before, after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_EQ(number_from([] { return 1; }), 1);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  // A program that ignores its children cannot ask how they ended.
  const auto handler = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(number_from([] { return 2; }), 2);
  expect_damaged([]() -> std::int64_t { std::abort(); });
  std::signal(SIGCHLD, handler);
}

}  // namespace
}  // namespace hqmm::detail
