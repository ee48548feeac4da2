// Finished cells: the parts of a long command that do not depend on one another. Each is kept in a
// file as soon as it is done, whole or not at all, so that an interrupted command continues with
// the missing ones.
//
//   NAME.json   what a cell found, and "seal", a hash of the rest: a damaged file does not count
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hqmm::detail {

class CellFolder {
 public:
  /// Called with the file of a cell that is damaged and must be done again.
  using OnDamage = std::function<void(const std::string& file)>;

  explicit CellFolder(std::string folder, OnDamage on_damage = {});

  /// Makes the folder. Throws kCannotWrite.
  void make() const;
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Hands what is kept to `take`; false where nothing is. What `take` throws that is not an Error
  /// means damage, too, and so does an Error of kBadData.
  bool find(const std::string& name, const std::function<void(const nlohmann::json&)>& take) const;
  /// Throws kCannotWrite, and kUsage where a link would lead out of the folder.
  void write(const std::string& name, std::string_view bytes) const;
  void keep(const std::string& name, nlohmann::ordered_json cell) const;

 private:
  std::string folder_;
  OnDamage on_damage_;
};

}  // namespace hqmm::detail
