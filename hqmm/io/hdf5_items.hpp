// The items of one HDF5 group: texts, numbers, arrays. Reading trusts nothing and names the file
// and the item that is wrong; writing records no times.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/model_arrays.hpp"

namespace hqmm::detail {

class Hdf5ItemReader {
 public:
  /// `place` names the group in messages ("class 'EI'"); empty for the file itself. Both ids and
  /// the file's name must outlive the reader.
  Hdf5ItemReader(hid_t group, const std::string& file, std::string place = {})
      : group_(group), file_(file), place_(std::move(place)) {}

  [[nodiscard]] bool exists(const char* name) const {
    return H5Lexists(group_, name, H5P_DEFAULT) > 0;
  }
  [[nodiscard]] std::optional<std::string> text_attribute(const char* name) const;
  [[nodiscard]] std::optional<std::int64_t> integer_attribute(const char* name) const;
  [[nodiscard]] std::vector<std::string> strings(const char* name) const;
  [[nodiscard]] NdArray array(const char* name) const;
  /// A string of JSON, dataset or attribute; an empty object if there is none.
  [[nodiscard]] std::string json(const char* name) const;
  [[nodiscard]] Hid subgroup(const char* name) const;

  [[nodiscard]] Error wrong(std::string_view name, std::string_view problem) const;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  template <typename Read>
  [[nodiscard]] std::vector<std::string> decode(std::string_view name, hid_t stored, hid_t space,
                                                Read read) const;
  [[nodiscard]] Hid attribute(const char* name) const;
  [[nodiscard]] Hid dataset(const char* name) const;
  void require_inside(const char* name) const;
  void read_numbers(const char* name, hid_t set, hid_t type, NdArray& out) const;

  hid_t group_;
  const std::string& file_;
  std::string place_;
};

class Hdf5ItemWriter {
 public:
  explicit Hdf5ItemWriter(hid_t group);

  void text_attribute(const char* name, const std::string& text) const;
  void integer_attribute(const char* name, std::int64_t value) const;
  void text(const char* name, const std::string& text) const;
  void strings(const char* name, const std::vector<std::string>& texts) const;
  void numbers(const std::string& name, const NdArray& array) const;
  [[nodiscard]] Hid subgroup(const char* name) const;

 private:
  void write(const std::string& name, hid_t stored, hid_t memory, hid_t space,
             const void* data) const;

  hid_t group_;
  Hid string_type_;
  Hid quiet_;  // datasets without times
};

}  // namespace hqmm::detail
