// The cells of a classifier's run: what the jobs of a cross-validation and the members of a
// classifier have found, in the folder cells/ of a run directory. A classifier is a file beside its
// cell, which says what its hash is.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/run/cell_folder.hpp"
#include "hqmm/run/run_directory.hpp"

namespace hqmm::detail {

class FoldCells {
 public:
  /// Cells of another configuration than the run's do not count; `on_damage` is called for them.
  explicit FoldCells(const RunDirectory& run, CellFolder::OnDamage on_damage = {});

  /// The same hooks, with finished jobs found and kept here.
  [[nodiscard]] CrossValidationHooks with_cells(CrossValidationHooks hooks);
  [[nodiscard]] ClassifierHooks with_members(ClassifierHooks hooks);
  /// How many cells there were when the run went on.
  [[nodiscard]] std::size_t found() const noexcept { return found_; }
  /// Since the run began, across interruptions.
  [[nodiscard]] double seconds() const;

 private:
  void look_for_cells();
  [[nodiscard]] std::optional<FoldCell> find(const std::string& name) const;
  void keep(const std::string& name, const FoldCell& cell) const;

  CellFolder folder_;
  std::string run_;  // its fingerprint
  std::size_t found_ = 0;
  double seconds_before_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hqmm::detail
