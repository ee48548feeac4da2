#include "hqmm/run/cell_folder.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/run/run_directory.hpp"

namespace hqmm::detail {
namespace {

/// Of the values, not of how they are written. Cells of before there were seals have none.
std::string cell_seal(nlohmann::json cell) {
  cell.erase("seal");
  return fingerprint_of(cell);
}

}  // namespace

CellFolder::CellFolder(std::string folder, OnDamage on_damage)
    : folder_(std::move(folder)), on_damage_(std::move(on_damage)) {}

void CellFolder::make() const { static_cast<void>(make_run_folder(folder_)); }

std::string CellFolder::file(const std::string& name) const {
  return (std::filesystem::path(folder_) / name).string();
}

bool CellFolder::find(const std::string& name,
                      const std::function<void(const nlohmann::json&)>& take) const {
  const std::string path = file(name + ".json");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  try {
    const nlohmann::json cell = parse_json(read_all(path));
    if (cell.contains("seal") && cell.at("seal") != cell_seal(cell))
      throw fail(ErrorCode::kBadData, "the seal is broken");
    take(cell);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData && error.code() != ErrorCode::kNoInput) throw;
  } catch (const std::exception&) {  // of another shape: json::exception
  }
  if (on_damage_) on_damage_(path);
  return false;
}

void CellFolder::write(const std::string& name, std::string_view bytes) const {
  const std::string path = file(name);
  require_no_link(path);
  write_file(path, bytes);
}

void CellFolder::keep(const std::string& name, nlohmann::ordered_json cell) const {
  cell["seal"] = cell_seal(nlohmann::json::parse(cell.dump()));
  write(name + ".json", cell.dump(2) + "\n");
}

}  // namespace hqmm::detail
