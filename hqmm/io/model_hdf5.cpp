// Model files as HDF5. Layout: attributes format, version, kind (field, position_anchor); one
// dataset per array; `alphabet` a list of strings; `provenance` one string of JSON.
#include "hqmm/io/model_hdf5.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/io/arrays_wire.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/hdf5_sandbox.hpp"

namespace hqmm::detail {
namespace {

ModelArrays read_root(const Hdf5ItemReader& root) {
  ModelArrays out;
  out.format = root.text_attribute("format");
  if (!out.format)
    throw root.wrong("format", "the attribute is missing: this is not an hqmm model file");
  out.version = root.integer_attribute("version");
  read_model_group(root, out);
  if (root.exists("alphabet")) out.alphabet = root.strings("alphabet");
  out.provenance = root.json("provenance");
  return out;
}

void write_root(const Hdf5ItemWriter& root, const ModelArrays& arrays) {
  root.text_attribute("format", *arrays.format);
  root.integer_attribute("version", *arrays.version);
  write_model_group(root, arrays);
  root.strings("alphabet", *arrays.alphabet);
  root.text("provenance", arrays.provenance);
}

}  // namespace

void read_model_group(const Hdf5ItemReader& group, ModelArrays& out) {
  out.kind = group.text_attribute("kind");
  out.field = group.text_attribute("field");
  for (const char* name : kArrayNames) {
    if (group.exists(name)) out.arrays[name] = group.array(name);
  }
  if (const auto anchor = group.text_attribute("position_anchor")) out.position_anchor = *anchor;
}

void write_model_group(const Hdf5ItemWriter& group, const ModelArrays& arrays) {
  group.text_attribute("kind", *arrays.kind);
  if (arrays.field) group.text_attribute("field", *arrays.field);
  for (const auto& [name, array] : arrays.arrays) group.numbers(name, array);
  if (arrays.arrays.contains("position_map"))
    group.text_attribute("position_anchor", arrays.position_anchor);
}

ModelArrays read_hdf5_arrays(const std::string& bytes, const std::string& file) {
  ModelArrays arrays;
  read_hdf5({bytes, file, kMaxRatio,
             [&](hid_t root, WireWriter& out) { put(out, read_root(Hdf5ItemReader(root, file))); }},
            [&](WireReader& in) { arrays = take_model_arrays(in); });
  return arrays;
}

std::string write_hdf5_arrays(const ModelArrays& arrays) {
  const Hdf5Section section;
  const Hid root = create_hdf5_image();
  if (!root) throw fail(ErrorCode::kInternal, "HDF5 could not start a file in memory");
  write_root(Hdf5ItemWriter(root), arrays);
  std::string bytes = hdf5_image_bytes(root);
  if (bytes.empty()) throw fail(ErrorCode::kInternal, "HDF5 could not finish a file in memory");
  return bytes;
}

}  // namespace hqmm::detail
