// TilePass: models whose states fit the shared memory of one multiprocessor, in one launch for all
// steps of a segment.
#pragma once

#include <memory>

#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

/// The largest n of complex and of real models that the pass takes.
inline constexpr int kMostTileComplex = 64;
inline constexpr int kMostTileReal = 80;

class TilePass {
 public:
  TilePass();
  TilePass(const TilePass&) = delete;
  TilePass& operator=(const TilePass&) = delete;
  ~TilePass();

  void run(const MatrixModel& model, const DeviceBatch& batch, const MatrixOptions& options,
           MatrixResult& out);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace hqmm::detail
