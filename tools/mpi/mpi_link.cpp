// Open MPI as a RankLink: the only file that knows mpi.h. It is a module of its own, which hqmm
// loads under mpirun and not otherwise: libmpi costs every start a tenth of a second and more
// (docs/decisions/0026-mpi.md).
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hqmm/core/ranks.hpp"

namespace {

using hqmm::detail::RankLink;
using hqmm::detail::RankMessage;

constexpr int kLast = 1;  // tags: a message, or the last piece of one that is too long for a count
constexpr int kMore = 2;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

class MpiLink final : public RankLink {
 public:
  MpiLink() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  void send(int to, std::string_view bytes, const Waiting& waiting) override {
    for (; bytes.size() > kMostBytes; bytes.remove_prefix(kMostBytes))
      send_piece(to, bytes.substr(0, kMostBytes), kMore, waiting);
    send_piece(to, bytes, kLast, waiting);
  }

  [[nodiscard]] std::optional<RankMessage> poll(int from) override {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return {};
    RankMessage out{from, {}};
    while (receive_piece(from, out.bytes) == kMore) continue;
    return out;
  }

 private:
  /// MPI_Send would not return when the other rank has ended, or waits in its signal handler for
  /// this one to end.
  static void send_piece(int to, std::string_view bytes, int tag, const Waiting& waiting) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
              &request);
    for (;;) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      if (waiting) waiting();  // who throws here ends, and talks to nobody any more
    }
  }

  static int receive_piece(int from, std::string& bytes) {
    MPI_Status status;
    MPI_Probe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(count));
    MPI_Recv(bytes.data() + before, count, MPI_BYTE, from, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return status.MPI_TAG;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

// The version is that of the program: the module and it are built together.
extern "C" {
extern const char* const hqmm_mpi_version;
const char* const hqmm_mpi_version = HQMM_VERSION;
RankLink* hqmm_mpi_open();
void hqmm_mpi_close();

/// Once for a process; it lives until the process ends.
RankLink* hqmm_mpi_open() {
  static MpiLink link;
  return &link;
}

/// When all ranks do the same.
void hqmm_mpi_close() { MPI_Finalize(); }
}
