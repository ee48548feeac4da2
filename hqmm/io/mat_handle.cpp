#include "hqmm/io/mat_handle.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/mat_check.hpp"
#include "hqmm/io/sandbox.hpp"

namespace hqmm::detail {
namespace {

template <typename T>
double load(const void* data, std::size_t at) {
  return static_cast<double>(static_cast<const T*>(data)[at]);
}

}  // namespace

MemoryFile::MemoryFile(const std::string& bytes) : file_(::memfd_create("hqmm", MFD_CLOEXEC)) {
  if (!file_.is_open()) throw fail(ErrorCode::kInternal, "no anonymous file could be made");
  if (write_all(file_.get(), bytes) != 0)
    throw fail(ErrorCode::kInternal, "an anonymous file could not be filled");
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

std::string MemoryFile::bytes() const {
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  std::string out(static_cast<std::size_t>(size), '\0');
  if (::pread(file_.get(), out.data(), out.size(), 0) != size) {
    throw fail(ErrorCode::kInternal, "an anonymous file could not be read back");
  }
  return out;
}

void read_mat5(const MatJob& job, const std::function<void(WireReader& in)>& take) {
  require_mat5_header(job.bytes, job.file);
  const MemoryFile memory(job.bytes);
  MatFile mat;
  SandboxJob inside{job.file, job.bytes.size(), job.max_ratio, memory.descriptor()};
  inside.open = [&] {
    silence_matio();
    mat.reset(Mat_Open(memory.path().c_str(), MAT_ACC_RDONLY));
  };
  inside.read = [&](WireWriter& out) {
    check_mat5(job.bytes, job.file);
    if (!mat)
      throw fail(ErrorCode::kBadData, Where{.file = job.file},
                 "the MATLAB file is damaged: it cannot be opened");
    job.read(mat.get(), out);
  };
  run_in_sandbox(inside, take);
}

MatElementType mat_element_type(matio_classes kind) {
  switch (kind) {
    case MAT_C_INT8:
      return {load<std::int8_t>, 1};
    case MAT_C_UINT8:
      return {load<std::uint8_t>, 1};
    case MAT_C_INT16:
      return {load<std::int16_t>, 2};
    case MAT_C_UINT16:
      return {load<std::uint16_t>, 2};
    case MAT_C_INT32:
      return {load<std::int32_t>, 4};
    case MAT_C_UINT32:
      return {load<std::uint32_t>, 4};
    case MAT_C_INT64:
      return {load<std::int64_t>, 8};
    case MAT_C_UINT64:
      return {load<std::uint64_t>, 8};
    case MAT_C_SINGLE:
      return {load<float>, 4};
    case MAT_C_DOUBLE:
      return {load<double>, 8};
    default:
      return {};
  }
}

void silence_matio() {
  Mat_LogInitFunc("hqmm", [](int /*level*/, char* /*message*/) {});
}

}  // namespace hqmm::detail
