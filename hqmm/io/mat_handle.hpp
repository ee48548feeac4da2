// MATLAB files on bytes in memory: matio wants a file name, so the bytes live in an anonymous file
// that /proc names. Nothing is left behind, and output goes through the one atomic writer.
#pragma once

#include <matio.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "hqmm/io/descriptor.hpp"
#include "hqmm/io/wire.hpp"

namespace hqmm::detail {

struct CloseMat {
  void operator()(mat_t* file) const noexcept { Mat_Close(file); }
};
struct FreeMatVariable {
  void operator()(matvar_t* variable) const noexcept { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using MatVariable = std::unique_ptr<matvar_t, FreeMatVariable>;

/// An anonymous file. Throws kInternal when the system has none to give.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes = {});

  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string bytes() const;

 private:
  Descriptor file_;
};

/// Reads a MATLAB file of version 5 to 7 in a sandbox (see SandboxJob). Throws like run_in_sandbox,
/// and kBadData with the byte where the file is damaged.
struct MatJob {
  const std::string& bytes;
  const std::string& file;  // named in errors
  double max_ratio;
  std::function<void(mat_t* mat, WireWriter& out)> read;
};
void read_mat5(const MatJob& job, const std::function<void(WireReader& in)>& take);

/// How to read the elements of a numeric class as doubles.
struct MatElementType {
  double (*load)(const void* data, std::size_t at) = nullptr;
  std::size_t size = 0;
};
/// No loader when the class does not hold numbers.
[[nodiscard]] MatElementType mat_element_type(matio_classes kind);

/// matio writes warnings about damaged files to the terminal unless told not to.
void silence_matio();

}  // namespace hqmm::detail
