// What fuzzing calls. A target hands bytes to one part of hqmm, which may read them or refuse them
// with an Error. Anything else is a bug: another exception, a report of a sanitizer, a message that
// is not one clean line.
//
// fuzz/libfuzzer.cpp tries a target on bytes without end (./dev fuzz); tests/fuzz/ on the seeds and
// on what once crashed it, in every build.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hqmm::detail {}

namespace hqmm::fuzz {
using namespace detail;

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
[[nodiscard]] std::span<const Target> targets();
/// nullptr when there is none of this name.
[[nodiscard]] const Target* find_target(std::string_view name);

// One file each.
void text(std::string_view bytes);
void fasta(std::string_view bytes);
void npy(std::string_view bytes);
void mat(std::string_view bytes);
void hdf5(std::string_view bytes);
void model(std::string_view bytes);
void model_binary(std::string_view bytes);
void classifier(std::string_view bytes);
void position_map(std::string_view bytes);
void run_directory(std::string_view bytes);
void checkpoint(std::string_view bytes);
void reply(std::string_view bytes);
void options(std::string_view bytes);
void values(std::string_view bytes);

/// A bug that no sanitizer sees. libFuzzer keeps the input of a process that aborts.
[[noreturn]] void bug(const std::string& what);

/// Whether it was read. An Error must say that data or usage is wrong, in one line.
bool read_or_refuse(const std::function<void()>& read);

/// A path of these bytes, without a disk; valid until the next call.
[[nodiscard]] std::string path_of(std::string_view bytes);

/// Chooses by the last byte, which stays part of the input: every file is a seed as it is.
[[nodiscard]] std::size_t choice(std::string_view bytes, std::size_t of);

}  // namespace hqmm::fuzz
