#include "hqmm/run/checkpoint_file.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/core/error.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/hdf5_sandbox.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/place.hpp"
#include "hqmm/run/train_config.hpp"

namespace hqmm {
namespace {

constexpr std::string_view kFormat = "hqmm-checkpoint";

nlohmann::ordered_json bookkeeping(const Checkpoint& checkpoint, const std::string& run) {
  nlohmann::ordered_json out;
  out["format"] = kFormat;
  out["version"] = 1;
  out["run"] = run;
  out["restart"] = checkpoint.restart;
  out["epochs_done"] = checkpoint.epochs_done;
  out["best_restart"] = checkpoint.best_restart;
  out["since_best"] = checkpoint.since_best;
  out["restart_over"] = checkpoint.restart_over;
  out["seconds"] = checkpoint.seconds;
  out["current"] = to_json(checkpoint.current);
  out["finished"] = nlohmann::ordered_json::array();
  for (const RestartSummary& one : checkpoint.finished) out["finished"].push_back(to_json(one));
  out["arrays"] = nlohmann::ordered_json::array();
  for (const auto& [name, values] : checkpoint.learner) out["arrays"].push_back(name);
  return out;
}

/// The line behind the HDF5 file: HDF5 does not look there, does not notice a flipped bit by
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
  return fail(ErrorCode::kBadData, in_file(file),
              "the checkpoint is damaged; remove it to start the run again from its beginning");
}

/// A checkpoint file as it is stored.
struct StoredCheckpoint {
  std::vector<char> state;  // JSON
  std::vector<char> best;   // a model file
  std::map<std::string, std::vector<Complex>> learner;
};

/// In the sandbox. Which arrays there are is said in the state.
class CheckpointReader {
 public:
  CheckpointReader(hid_t root, const std::string& file) : root_(root), file_(file) {}

  [[nodiscard]] StoredCheckpoint run() const {
    StoredCheckpoint out;
    out.state = need<char>("state", H5T_NATIVE_CHAR);
    out.best = need<char>("best", H5T_NATIVE_CHAR);
    const Hid complex = hdf5_complex_type();
    for (const std::string& name : array_names(out.state))
      out.learner[name] = need<Complex>("learner_" + name, complex);
    return out;
  }

 private:
  [[nodiscard]] std::vector<std::string> array_names(const std::vector<char>& state) const {
    try {
      const auto parsed = parse_json_or_discard({state.data(), state.size()});
      return parsed.at("arrays").get<std::vector<std::string>>();
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
    to.number(std::uint64_t{found.learner.size()});
    for (const auto& [name, values] : found.learner) {
      to.text(name);
      to.numbers(values);
    }
  };
  const auto take = [&](WireReader& in) {
    out.state = in.numbers<char>();
    out.best = in.numbers<char>();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
      std::string name = in.text();
      out.learner[std::move(name)] = in.numbers<Complex>();
    }
  };
  read_hdf5({image, file, kMaxRatio, read}, take);
  return out;
}

Checkpoint with_bookkeeping(const std::vector<char>& text, const std::string& file,
                            const std::string& run) {
  const auto state = parse_json_or_discard({text.data(), text.size()});
  Checkpoint out;
  try {
    if (state.at("format") != kFormat || state.at("version") != 1) throw damaged_checkpoint(file);
    if (state.at("run") != run) {
      throw fail(ErrorCode::kBadData, in_file(file),
                 "belongs to another run than the config.json beside it");
    }
    state.at("restart").get_to(out.restart);
    state.at("epochs_done").get_to(out.epochs_done);
    state.at("best_restart").get_to(out.best_restart);
    state.at("since_best").get_to(out.since_best);
    state.at("restart_over").get_to(out.restart_over);
    state.at("seconds").get_to(out.seconds);
    out.current = restart_summary_from_json(state.at("current"));
    for (const auto& one : state.at("finished"))
      out.finished.push_back(restart_summary_from_json(one));
  } catch (const nlohmann::json::exception&) {
    throw damaged_checkpoint(file);
  }
  return out;
}

}  // namespace

std::string serialize_checkpoint(const Checkpoint& checkpoint, const std::string& run) {
  const std::string best = serialize_model({checkpoint.best, {}}, ModelFormat::kHdf5);
  const std::string state = bookkeeping(checkpoint, run).dump();
  const Hdf5Section section;
  const Hid root = create_hdf5_image();
  put(root, "state", H5T_NATIVE_CHAR, state.data(), state.size());
  put(root, "best", H5T_NATIVE_CHAR, best.data(), best.size());
  const Hid complex = hdf5_complex_type();
  for (const auto& [name, values] : checkpoint.learner) {
    put(root, "learner_" + name, complex, values.data(), values.size());
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
  StoredCheckpoint stored = read_stored(image, file);
  Checkpoint out = with_bookkeeping(stored.state, file, run);
  out.learner = std::move(stored.learner);
  const std::string best(stored.best.begin(), stored.best.end());
  out.best = assemble(read_hdf5_arrays(best, file), file).model;
  return out;
}

}  // namespace hqmm
