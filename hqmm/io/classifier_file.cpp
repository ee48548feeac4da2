#include "hqmm/io/classifier_file.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/arrays_wire.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/hdf5_sandbox.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_hdf5.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::string_view kKind = "classifier";

/// Returns the version.
std::int64_t check_header(const Hdf5ItemReader& root) {
  const auto format = root.text_attribute("format");
  if (format != kModelFormat) throw root.wrong("format", "this is not an hqmm model file");
  const auto version = root.integer_attribute("version");
  if (!version || !is_known_version(*version))
    throw root.wrong("version", unknown_version(version));
  const std::string kind = root.text_attribute("kind").value_or("");
  if (kind != kKind) {
    throw root.wrong(
        "kind", fmt::format("expected a classifier, found a model of kind '{}'", printable(kind)));
  }
  return *version;
}

/// A classifier file as it is stored; nothing but its layout has been checked.
struct ClassifierArrays {
  std::vector<std::string> classes;
  NdArray priors;
  std::vector<std::string> alphabet;
  std::vector<ModelArrays> models;  // one per class
  std::string provenance;
};

std::string place_of(const std::string& name) { return fmt::format("class '{}'", printable(name)); }

/// In the sandbox.
ClassifierArrays read_root(hid_t file_id, const std::string& file) {
  const Hdf5ItemReader root(file_id, file);
  const std::int64_t version = check_header(root);
  for (const char* name : {"classes", "alphabet", "priors"})
    if (!root.exists(name)) throw root.wrong(name, "missing");
  ClassifierArrays out;
  out.classes = root.strings("classes");
  out.priors = root.array("priors");
  out.alphabet = root.strings("alphabet");
  for (std::size_t c = 0; c < out.classes.size(); ++c) {
    const std::string place = place_of(out.classes[c]);
    const Hid id = root.subgroup(std::to_string(c).c_str());
    ModelArrays arrays;
    arrays.version = version;
    read_model_group(Hdf5ItemReader(id, file, place), arrays);
    if (arrays.kind == kKind)
      throw fail(ErrorCode::kBadData, Where{.file = file, .item = place},
                 "a class cannot be a classifier");
    out.models.push_back(std::move(arrays));
  }
  out.provenance = root.json("provenance");
  return out;
}

void put(WireWriter& out, const ClassifierArrays& arrays) {
  out.texts(arrays.classes);
  put(out, arrays.priors);
  out.texts(arrays.alphabet);
  for (const ModelArrays& model : arrays.models) put(out, model);
  out.text(arrays.provenance);
}

ClassifierArrays take_classifier_arrays(WireReader& in) {
  ClassifierArrays out;
  out.classes = in.texts();
  out.priors = take_array(in);
  out.alphabet = in.texts();
  for (std::size_t c = 0; c < out.classes.size(); ++c) out.models.push_back(take_model_arrays(in));
  out.provenance = in.text();
  return out;
}

ClassifierFile assemble_classifier(ClassifierArrays arrays, const std::string& file) {
  const std::vector<std::size_t> expected{arrays.classes.size()};
  if (arrays.priors.shape != expected) {
    throw fail(ErrorCode::kBadData, Where{.file = file, .item = "'priors'"},
               "has shape {}, expected ({})", arrays.priors.shape_text(), arrays.classes.size());
  }
  ClassifierFile out;
  Classifier& classifier = out.classifier;
  for (const Complex value : arrays.priors.values) classifier.priors.push_back(value.real());
  for (std::size_t c = 0; c < arrays.classes.size(); ++c) {
    arrays.models[c].alphabet = arrays.alphabet;
    classifier.models.push_back(
        assemble(arrays.models[c], file, place_of(arrays.classes[c])).model);
  }
  classifier.classes = std::move(arrays.classes);
  out.provenance = std::move(arrays.provenance);
  return out;
}

void require_hdf5(const std::string& bytes, const std::string& path) {
  if (bytes.starts_with(kHdf5Magic)) return;
  throw fail(ErrorCode::kBadData, Where{.file = path}, "{}",
             bytes.empty() ? "is empty; expected a classifier file"
                           : "is not a classifier file (expected HDF5)");
}

std::vector<ModelArrays> disassemble_all(const std::vector<AnyModel>& models) {
  std::vector<ModelArrays> out;
  out.reserve(models.size());
  for (const AnyModel& model : models) out.push_back(disassemble({model, {}}));
  return out;
}

/// The lowest version that holds them all.
std::int64_t version_of(const std::vector<ModelArrays>& models) {
  std::int64_t out = kPlainVersion;
  for (const ModelArrays& model : models) out = std::max(out, *model.version);
  return out;
}

/// HDF5 keeps strings up to the first NUL: such a name would come back as another one.
void require_writable_names(const std::vector<std::string>& classes) {
  for (const std::string& name : classes) {
    if (name.find('\0') == std::string::npos) continue;
    throw fail(ErrorCode::kBadData, "class '{}' holds a NUL byte, which a file cannot keep",
               printable(name));
  }
}

}  // namespace

bool detail::is_classifier_file(const std::string& path) {
  return path != "-" && is_classifier(read_all(path), path);
}

bool detail::is_classifier(const std::string& bytes, const std::string& name) {
  if (!bytes.starts_with(kHdf5Magic)) return false;
  bool found = false;
  const auto look = [&](hid_t root, WireWriter& out) {
    const Hdf5ItemReader reader(root, name);
    out.number(std::uint8_t{reader.text_attribute("format") == kModelFormat &&
                            reader.text_attribute("kind") == kKind});
  };
  try {
    read_hdf5({bytes, name, kMaxRatio, look}, [&](WireReader& in) { found = in.flag(); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
  }
  return found;
}

ClassifierFile read_classifier(const std::string& path) {
  return detail::parse_classifier(read_all(path), path);
}

ClassifierFile detail::parse_classifier(const std::string& bytes, const std::string& name) {
  require_hdf5(bytes, name);
  ClassifierArrays arrays;
  read_hdf5({bytes, name, kMaxRatio,
             [&](hid_t root, WireWriter& out) { put(out, read_root(root, name)); }},
            [&](WireReader& in) { arrays = take_classifier_arrays(in); });
  ClassifierFile out = assemble_classifier(std::move(arrays), name);
  try {
    require_valid(out.classifier);
  } catch (const Error& error) {
    throw error.at(Where{.file = name});
  }
  return out;
}

std::string detail::serialize_classifier(const ClassifierFile& file) {
  const Classifier& classifier = file.classifier;
  require_valid(classifier);
  require_writable_names(classifier.classes);
  const Hdf5Section section;
  const Hid id = create_hdf5_image();
  if (!id) throw fail(ErrorCode::kInternal, "HDF5 could not start a file in memory");
  const Hdf5ItemWriter root(id);
  root.text_attribute("format", std::string(kModelFormat));
  const std::vector<ModelArrays> models = disassemble_all(classifier.models);
  root.integer_attribute("version", version_of(models));
  root.text_attribute("kind", std::string(kKind));
  for (std::size_t c = 0; c < models.size(); ++c) {
    const Hid group = root.subgroup(std::to_string(c).c_str());
    write_model_group(Hdf5ItemWriter(group), models[c]);
  }
  root.strings("classes", classifier.classes);
  const std::vector<double>& priors = classifier.priors;
  root.numbers("priors", {{priors.size()}, {priors.begin(), priors.end()}, false});
  root.strings("alphabet", classifier.alphabet().all_tokens());
  root.text("provenance", canonical_json(file.provenance));
  std::string bytes = hdf5_image_bytes(id);
  if (bytes.empty()) throw fail(ErrorCode::kInternal, "HDF5 could not finish a file in memory");
  return bytes;
}

void write_classifier(const std::string& path, const ClassifierFile& file) {
  write_file(path, serialize_classifier(file));
}

}  // namespace hqmm
