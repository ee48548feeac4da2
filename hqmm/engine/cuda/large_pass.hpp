// LargePass: states too large for one multiprocessor; two products per step for the whole batch.
#pragma once

#include <memory>

#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

class LargePass {
 public:
  LargePass();
  LargePass(const LargePass&) = delete;
  LargePass& operator=(const LargePass&) = delete;
  ~LargePass();

  void run(const MatrixModel& model, const DeviceBatch& batch, const MatrixOptions& options,
           MatrixResult& out);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace hqmm::detail
