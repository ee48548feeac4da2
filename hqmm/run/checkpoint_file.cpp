#include "hqmm/run/checkpoint_file.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/hdf5_sandbox.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/run/train_config.hpp"

namespace hqmm::detail {
namespace {

constexpr std::string_view kFormat = "hqmm-checkpoint";
/// Version 1 knew one restart under way, with its arrays as learner_NAME.
constexpr int kVersion = 2;

/// The dataset of a learner's array.
std::string dataset_name(std::size_t restart, const std::string& array) {
  return fmt::format("learner_{}_{}", restart, array);
}

nlohmann::ordered_json bookkeeping(const Checkpoint& checkpoint, const std::string& run) {
  nlohmann::ordered_json out;
  out["format"] = kFormat;
  out["version"] = kVersion;
  out["run"] = run;
  out["best_restart"] = checkpoint.best_restart;
  out["seconds"] = checkpoint.seconds;
  out["finished"] = nlohmann::ordered_json::array();
  for (const RestartSummary& one : checkpoint.finished) out["finished"].push_back(to_json(one));
  out["live"] = nlohmann::ordered_json::array();
  for (const RestartState& state : checkpoint.live) {
    nlohmann::ordered_json one;
    one["summary"] = to_json(state.summary);
    one["since_best"] = state.since_best;
    one["arrays"] = nlohmann::ordered_json::array();
    for (const auto& [name, values] : state.learner) one["arrays"].push_back(name);
    out["live"].push_back(std::move(one));
  }
  return out;
}

/// The line after the HDF5 file: HDF5 does not look there, does not notice a flipped bit by
/// itself, and crashes on some, so damage is found before it reads anything.
std::string seal_of(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return fmt::format("\nhqmm-checkpoint {:016x}\n", sum);
}

/// A flat dataset without times.
void put(hid_t root, const std::string& name, hid_t type, const void* data, hsize_t size) {
  const Hid space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Hid creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Hid set(H5Dcreate2(root, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                H5Dclose);
  if (!set || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    throw fail(ErrorCode::kInternal, "HDF5 could not build the checkpoint in memory");
  }
}

/// A flat dataset of `type`, or nothing when it is missing, damaged or in another file.
template <typename T>
std::optional<std::vector<T>> take(hid_t root, const std::string& name, hid_t type) {
  const Hid set = open_hdf5_dataset(root, name.c_str());
  if (!set || stored_elsewhere(set)) return {};
  const Hid space(H5Dget_space(set), H5Sclose);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (size < 0 || static_cast<std::size_t>(size) > kMostElements) return {};
  std::vector<T> out(static_cast<std::size_t>(size));
  if (size > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) return {};
  return out;
}

Error damaged_checkpoint(const std::string& file) {
  return fail(ErrorCode::kBadData, Where{.file = file},
              "the checkpoint is damaged; remove it to start the run again from its beginning");
}

/// A checkpoint file as it is stored.
struct StoredCheckpoint {
  std::vector<char> state;                             // JSON
  std::vector<char> best;                              // a model file
  std::map<std::string, std::vector<Complex>> arrays;  // by dataset
};

/// The datasets that a state speaks of. Throws json::exception when it is none.
std::vector<std::string> datasets_of(const nlohmann::json& state) {
  std::vector<std::string> out;
  if (state.at("version") == 1) {
    for (const std::string& name : state.at("arrays").get<std::vector<std::string>>())
      out.push_back("learner_" + name);
    return out;
  }
  for (const auto& one : state.at("live")) {
    const auto restart = one.at("summary").at("restart").get<std::size_t>();
    for (const std::string& name : one.at("arrays").get<std::vector<std::string>>())
      out.push_back(dataset_name(restart, name));
  }
  return out;
}

/// In the sandbox. Which arrays there are is said in the state.
class CheckpointReader {
 public:
  CheckpointReader(hid_t root, const std::string& file) : root_(root), file_(file) {}

  [[nodiscard]] StoredCheckpoint run() const {
    StoredCheckpoint out;
    out.state = need<char>("state", H5T_NATIVE_CHAR);
    out.best = need<char>("best", H5T_NATIVE_CHAR);
    const Hid complex = hdf5_complex_type();
    for (const std::string& name : names(out.state))
      out.arrays[name] = need<Complex>(name, complex);
    return out;
  }

 private:
  [[nodiscard]] std::vector<std::string> names(const std::vector<char>& state) const {
    try {
      return datasets_of(parse_json_or_discard({state.data(), state.size()}));
    } catch (const nlohmann::json::exception&) {
      throw damaged_checkpoint(file_);
    }
  }

  template <typename T>
  [[nodiscard]] std::vector<T> need(const std::string& name, hid_t type) const {
    if (auto values = take<T>(root_, name, type)) return std::move(*values);
    throw damaged_checkpoint(file_);
  }

  hid_t root_;
  const std::string& file_;
};

StoredCheckpoint read_stored(const std::string& image, const std::string& file) {
  StoredCheckpoint out;
  const auto read = [&](hid_t root, WireWriter& to) {
    const StoredCheckpoint found = CheckpointReader(root, file).run();
    to.numbers(found.state);
    to.numbers(found.best);
    to.number(std::uint64_t{found.arrays.size()});
    for (const auto& [name, values] : found.arrays) {
      to.text(name);
      to.numbers(values);
    }
  };
  const auto take = [&](WireReader& in) {
    out.state = in.numbers<char>();
    out.best = in.numbers<char>();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
      std::string name = in.text();
      out.arrays[std::move(name)] = in.numbers<Complex>();
    }
  };
  read_hdf5({image, file, kMaxRatio, read}, take);
  return out;
}

/// The JSON of a checkpoint and its arrays, put together.
class Bookkeeping {
 public:
  Bookkeeping(const StoredCheckpoint& stored, const std::string& file)
      : stored_(stored), file_(file) {}

  [[nodiscard]] Checkpoint read(const std::string& run) const {
    const auto state = parse_json_or_discard({stored_.state.data(), stored_.state.size()});
    Checkpoint out;
    try {
      const auto& version = state.at("version");
      if (state.at("format") != kFormat || (version != kVersion && version != 1))
        throw damaged_checkpoint(file_);
      if (state.at("run") != run) {
        throw fail(ErrorCode::kBadData, Where{.file = file_},
                   "belongs to another run than the config.json beside it");
      }
      state.at("best_restart").get_to(out.best_restart);
      state.at("seconds").get_to(out.seconds);
      for (const auto& one : state.at("finished"))
        out.finished.push_back(restart_summary_from_json(one));
      if (version == 1) {
        read_only_restart(state, out);
      } else {
        for (const auto& one : state.at("live")) out.live.push_back(restart_state(one));
      }
    } catch (const nlohmann::json::exception&) {
      throw damaged_checkpoint(file_);
    }
    return out;
  }

 private:
  [[nodiscard]] const std::vector<Complex>& array(const std::string& dataset) const {
    const auto found = stored_.arrays.find(dataset);
    if (found == stored_.arrays.end()) throw damaged_checkpoint(file_);
    return found->second;
  }

  [[nodiscard]] RestartState restart_state(const nlohmann::json& json) const {
    RestartState out;
    out.summary = restart_summary_from_json(json.at("summary"));
    json.at("since_best").get_to(out.since_best);
    for (const std::string& name : json.at("arrays").get<std::vector<std::string>>())
      out.learner[name] = array(dataset_name(out.summary.restart, name));
    return out;
  }

  /// Of version 1. Later restarts have not begun.
  void read_only_restart(const nlohmann::json& state, Checkpoint& out) const {
    RestartState only;
    only.summary = restart_summary_from_json(state.at("current"));
    state.at("epochs_done").get_to(only.summary.epochs_run);
    state.at("since_best").get_to(only.since_best);
    for (const std::string& name : state.at("arrays").get<std::vector<std::string>>())
      only.learner[name] = array("learner_" + name);
    if (state.at("restart_over").get<bool>()) {
      only.summary.status = TrainStatus::kConverged;
      out.finished.push_back(std::move(only.summary));
    } else {
      out.live.push_back(std::move(only));
    }
  }

  const StoredCheckpoint& stored_;
  const std::string& file_;
};

}  // namespace

std::string serialize_checkpoint(const Checkpoint& checkpoint, const std::string& run) {
  const std::string best = serialize_model({checkpoint.best, {}}, ModelFormat::kHdf5);
  const std::string state = bookkeeping(checkpoint, run).dump();
  const Hdf5Section section;
  const Hid root = create_hdf5_image();
  put(root, "state", H5T_NATIVE_CHAR, state.data(), state.size());
  put(root, "best", H5T_NATIVE_CHAR, best.data(), best.size());
  const Hid complex = hdf5_complex_type();
  for (const RestartState& one : checkpoint.live) {
    for (const auto& [name, values] : one.learner)
      put(root, dataset_name(one.summary.restart, name), complex, values.data(), values.size());
  }
  const std::string bytes = hdf5_image_bytes(root);
  if (bytes.empty())
    throw fail(ErrorCode::kInternal, "HDF5 could not finish the checkpoint in memory");
  return seal_checkpoint(bytes);
}

std::string seal_checkpoint(const std::string& bytes) { return bytes + seal_of(bytes); }

Checkpoint parse_checkpoint(const std::string& bytes, const std::string& file,
                            const std::string& run) {
  const std::size_t seal = seal_of({}).size();
  const std::string image = bytes.substr(0, bytes.size() < seal ? 0 : bytes.size() - seal);
  if (bytes.size() < seal || bytes.compare(image.size(), seal, seal_of(image)) != 0)
    throw damaged_checkpoint(file);
  const StoredCheckpoint stored = read_stored(image, file);
  Checkpoint out = Bookkeeping(stored, file).read(run);
  const std::string best(stored.best.begin(), stored.best.end());
  out.best = assemble(read_hdf5_arrays(best, file), file).model;
  return out;
}

}  // namespace hqmm::detail
