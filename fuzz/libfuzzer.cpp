// hqmm_fuzz TARGET [libFuzzer's arguments]: the entry points of libFuzzer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "target.hpp"

namespace {

const hqmm::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc > 1) chosen = hqmm::fuzz::find_target((*argv)[1]);
  if (chosen == nullptr) {
    std::fputs("usage: hqmm_fuzz TARGET [FILE or FOLDER…] [-OPTION=VALUE…]\ntargets:", stderr);
    for (const auto& target : hqmm::fuzz::targets())
      std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  // libFuzzer would take the name for a folder.
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
