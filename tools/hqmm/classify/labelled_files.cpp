// The labelled data of `hqmm classify`: files with classes in them, or a file per class.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "support/memory.hpp"
#include "support/run_config.hpp"

namespace hqmm::cli {

void LabelledFiles::add_to(Command command) {
  command
      .add_option("DATA", paths_,
                  "Labelled sequences, one or more files; '-' for stdin; not with --class")
      .type_name("");
  command
      .add_option("--class", classes_,
                  "The sequences of one class, in a file of their own; "
                  "repeat it for every class, and for several files of a class")
      .one_word()
      .group("Reading data")
      .type_name("NAME=FILE");
}

std::vector<NamedFile> LabelledFiles::named() const {
  std::vector<NamedFile> out;
  add_named(out, "DATA", paths_);
  for (const ClassFile& file : class_files()) out.push_back({"--class", file.path});
  return out;
}

Paths LabelledFiles::all_paths() const {
  Paths out = paths_;
  for (const ClassFile& file : class_files()) out.push_back(file.path);
  return out;
}

std::string LabelledFiles::shown() const { return cli::shown(all_paths()); }

Json LabelledFiles::to_json() const {
  require_no_stdin(all_paths());
  Json out;
  out["paths"] = paths_json(paths_);
  out["classes"] = Json::array();
  for (const ClassFile& file : class_files()) {
    const std::string name = utf8_path(file.name);
    out["classes"].push_back(name + "=" + utf8_path(absolute_path(file.path)));
  }
  return out;
}

void LabelledFiles::from_json(const nlohmann::json& json) {
  paths_ = paths_from_json(json.at("paths"));
  json.at("classes").get_to(classes_);
}

std::vector<ClassFile> LabelledFiles::class_files() const {
  std::vector<ClassFile> out;
  for (const std::string& text : classes_) {
    const std::size_t mark = text.find('=');
    if (mark == std::string::npos || mark == 0 || mark + 1 == text.size()) {
      throw fail(ErrorCode::kUsage, "--class {}: expected NAME=FILE, such as EI=ei.fa",
                 printable(text, 200));
    }
    out.push_back({text.substr(0, mark), text.substr(mark + 1)});
  }
  return out;
}

SequenceSet LabelledFiles::read(const DataOptions& data, std::size_t memory) const {
  const std::vector<ClassFile> files = class_files();
  if (paths_.empty() && files.empty())
    throw fail(ErrorCode::kUsage, "DATA is required, or --class NAME=FILE for every class");
  if (!paths_.empty() && !files.empty())
    throw fail(ErrorCode::kUsage, "give DATA with classes in it or --class, not both");
  require_one_stdin({all_paths()});
  ReadOptions options = data.resolve();
  options.memory = memory;
  SequenceSet set = files.empty() ? read_sequences(paths_, options) : read_classes(files, options);
  require_within(memory);
  try {
    require_labelled(set);
  } catch (const Error& error) {
    throw error.at({shown(), {}, {}, {}, {}});
  }
  return set;
}

}  // namespace hqmm::cli
