#include "hqmm/io/classifier_file.hpp"

#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_hdf5.hpp"
#include "hqmm/io/place.hpp"

namespace hqmm {
namespace {

constexpr std::string_view kKind = "classifier";

void check_header(const Hdf5ItemReader& root) {
  const auto format = root.text_attribute("format");
  if (format != kModelFormat) throw root.wrong("format", "this is no hqmm model file");
  const auto version = root.integer_attribute("version");
  if (version != kModelVersion) {
    throw root.wrong("version",
                     fmt::format("this hqmm reads version {}, the file has {}", kModelVersion,
                                 version ? fmt::format("version {}", *version) : "none"));
  }
  const std::string kind = root.text_attribute("kind").value_or("");
  if (kind != kKind) {
    throw root.wrong(
        "kind", fmt::format("expected a classifier, found a model of kind '{}'", printable(kind)));
  }
}

std::vector<double> read_priors(const Hdf5ItemReader& root, std::size_t classes) {
  if (!root.exists("priors")) throw root.wrong("priors", "missing");
  const NdArray array = root.array("priors");
  if (array.shape.size() != 1 || array.shape.front() != classes) {
    throw root.wrong("priors",
                     fmt::format("has shape {}, expected ({})", array.shape_text(), classes));
  }
  std::vector<double> out;
  for (const Complex value : array.values) out.push_back(value.real());
  return out;
}

ClassifierFile read_root(hid_t file_id, const std::string& file) {
  const Hdf5ItemReader root(file_id, file);
  check_header(root);
  ClassifierFile out;
  Classifier& classifier = out.classifier;
  for (const char* name : {"classes", "alphabet"})
    if (!root.exists(name)) throw root.wrong(name, "missing");
  classifier.classes = root.strings("classes");
  classifier.priors = read_priors(root, classifier.classes.size());
  const std::vector<std::string> alphabet = root.strings("alphabet");
  for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
    const std::string place = fmt::format("class '{}'", printable(classifier.classes[c]));
    const Hid id = root.subgroup(std::to_string(c).c_str());
    ModelArrays arrays;
    read_model_group(Hdf5ItemReader(id, file, place), arrays);
    if (arrays.kind == kKind)
      throw fail(ErrorCode::kBadData, in_item(file, place), "a class cannot be a classifier");
    arrays.alphabet = alphabet;
    classifier.models.push_back(assemble(arrays, file, place).model);
  }
  out.provenance = root.json("provenance");
  return out;
}

Hid open_image(const std::string& bytes, const std::string& path) {
  if (!bytes.starts_with(kHdf5Magic)) {
    throw fail(ErrorCode::kBadData, in_file(path), "{}",
               bytes.empty() ? "is empty; expected a classifier file"
                             : "is not a classifier file (expected HDF5)");
  }
  Hid root = open_hdf5_image(bytes);
  if (!root)
    throw fail(ErrorCode::kBadData, in_file(path), "the HDF5 file is truncated or damaged");
  return root;
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

bool is_classifier_file(const std::string& path) {
  return path != "-" && is_classifier(read_all(path), path);
}

bool is_classifier(const std::string& bytes, const std::string& path) {
  if (!bytes.starts_with(kHdf5Magic)) return false;
  const Hdf5Section section(path, bytes.size());
  const Hid root = open_hdf5_image(bytes);
  if (!root) return false;
  try {
    const Hdf5ItemReader reader(root, path);
    return reader.text_attribute("format") == kModelFormat &&
           reader.text_attribute("kind") == kKind;
  } catch (const Error&) {
    return false;
  }
}

ClassifierFile read_classifier(const std::string& path) {
  return parse_classifier(read_all(path), path);
}

ClassifierFile parse_classifier(const std::string& bytes, const std::string& name) {
  ClassifierFile out;
  {
    const Hdf5Section section(name, bytes.size());
    const Hid root = open_image(bytes, name);
    out = read_root(root, name);
  }
  try {
    require_valid(out.classifier);
  } catch (const Error& error) {
    throw error.at(in_file(name));
  }
  return out;
}

std::string serialize_classifier(const ClassifierFile& file) {
  const Classifier& classifier = file.classifier;
  require_valid(classifier);
  require_writable_names(classifier.classes);
  const Hdf5Section section;
  const Hid id = create_hdf5_image();
  if (!id) throw fail(ErrorCode::kInternal, "HDF5 could not start a file in memory");
  const Hdf5ItemWriter root(id);
  root.text_attribute("format", std::string(kModelFormat));
  root.integer_attribute("version", kModelVersion);
  root.text_attribute("kind", std::string(kKind));
  for (std::size_t c = 0; c < classifier.models.size(); ++c) {
    const Hid group = root.subgroup(std::to_string(c).c_str());
    write_model_group(Hdf5ItemWriter(group), disassemble({classifier.models[c], {}}));
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
