// Model: a model file in memory, and everything that is asked of a model.
#include <cmath>
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "hqmm/score/score_on.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

constexpr py::ssize_t kEntry = sizeof(Complex);

py::bytes model_bytes(const ModelFile& file) {
  return py::bytes(serialize_model(file, ModelFormat::kHdf5));
}

const Hqmm& as_hqmm(const ModelFile& file) {
  if (const auto* hqmm = std::get_if<Hqmm>(&file.model)) return *hqmm;
  throw fail(ErrorCode::kUsage, "this is a model of kind hmm, not hqmm");
}
/// An HMM that emits in its states has a transition and an emission matrix.
const Hmm& as_hmm(const ModelFile& file) {
  if (const auto* hmm = std::get_if<Hmm>(&file.model)) return *hmm;
  throw fail(ErrorCode::kUsage, "this is {}",
             std::holds_alternative<Hqmm>(file.model) ? "a model of kind hqmm, not hmm"
                                                      : "an hmm that emits on its edges");
}

std::string_view emission_of(const ModelFile& file) {
  if (const auto* hqmm = std::get_if<Hqmm>(&file.model)) return name_of(hqmm->emits_on());
  return name_of(std::holds_alternative<Hmm>(file.model) ? EmissionKind::kState
                                                         : EmissionKind::kEdge);
}

/// Operators stacked in C order, as an array of any number of leading axes over (n, n).
py::array operators(const Stack& stack, std::vector<py::ssize_t> leading, const py::handle& owner) {
  std::vector<py::ssize_t> shape = std::move(leading);
  shape.insert(shape.end(), 2, static_cast<py::ssize_t>(stack.cols()));
  std::vector<py::ssize_t> strides(shape.size(), kEntry);
  for (std::size_t axis = shape.size() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * shape[axis];
  return borrowed(std::move(shape), std::move(strides), stack.data(), owner);
}

/// Arrays of a real model are real.
py::object of_field(const AnyModel& model, const py::array& array) {
  const auto* hqmm = std::get_if<Hqmm>(&model);
  if (hqmm == nullptr || hqmm->field == Field::kComplex) return array;
  return array.attr("real");
}

/// One array (s, w, n, n) per Kraus set: a stationary model has one. Operators of a model that
/// emits on its states are worked out.
py::list kraus_sets(const py::object& self) {
  py::list out;
  const auto& file = self.cast<const ModelFile&>();
  for (const KrausSet& set : as_hqmm(file).sets) {
    const std::vector<py::ssize_t> leading{static_cast<py::ssize_t>(set.alphabet_size()),
                                           static_cast<py::ssize_t>(set.kraus_rank())};
    if (set.emits_on() == EmissionKind::kEdge) {
      out.append(of_field(file.model, operators(set.gamma(), leading, self)));
      continue;
    }
    auto owned = std::make_unique<const Stack>(set.expanded().gamma());
    const Stack& gamma = *owned;
    const py::capsule owner(owned.release(),
                            [](void* stack) { delete static_cast<const Stack*>(stack); });
    out.append(of_field(file.model, operators(gamma, leading, owner)));
  }
  return out;
}

const Hqmm& as_state_hqmm(const ModelFile& file) {
  const Hqmm& hqmm = as_hqmm(file);
  if (hqmm.emits_on() == EmissionKind::kState) return hqmm;
  throw fail(ErrorCode::kUsage, "this is an hqmm that emits on its edges");
}

/// V (w, n, n) of every Kraus set.
py::list transition_sets(const py::object& self) {
  py::list out;
  const auto& file = self.cast<const ModelFile&>();
  for (const KrausSet& set : as_state_hqmm(file).sets) {
    const auto w = static_cast<py::ssize_t>(set.kraus_rank());
    out.append(of_field(file.model, operators(set.transition(), {w}, self)));
  }
  return out;
}

py::array matrix(const Matrix& m, const py::handle& owner) {
  const auto rows = static_cast<py::ssize_t>(m.rows());
  return borrowed({rows, static_cast<py::ssize_t>(m.cols())}, {kEntry, rows * kEntry}, m.data(),
                  owner);
}
py::array matrix(const RealMatrix& m, const py::handle& owner) {
  constexpr py::ssize_t kReal = sizeof(double);
  const auto rows = static_cast<py::ssize_t>(m.rows());
  return borrowed({rows, static_cast<py::ssize_t>(m.cols())}, {kReal, rows * kReal}, m.data(),
                  owner);
}

/// C (s, n) of every Kraus set.
py::list emission_sets(const py::object& self) {
  py::list out;
  for (const KrausSet& set : as_state_hqmm(self.cast<const ModelFile&>()).sets)
    out.append(matrix(set.emission(), self));
  return out;
}

py::array vector(const RealVector& x, const py::handle& owner) {
  return borrowed({static_cast<py::ssize_t>(x.size())}, {py::ssize_t{sizeof(double)}}, x.data(),
                  owner);
}

/// (s, n, n): entry (y, i, j) is P(symbol y, state i | state j before).
py::array_t<double> edges(const ModelFile& file) {
  const auto* state = std::get_if<Hmm>(&file.model);
  const EdgeHmm model = state != nullptr ? as_edge_hmm(*state) : [&] {
    if (const auto* edge = std::get_if<EdgeHmm>(&file.model)) return *edge;
    throw fail(ErrorCode::kUsage, "this is a model of kind hqmm, not hmm");
  }();
  const Index n = model.latent_dim();
  py::array_t<double> out({model.alphabet_size(), n, n});
  double* to = out.mutable_data();
  for (const RealMatrix& one : model.edges) {
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(to, n, n) =
        one;
    to += one.size();
  }
  return out;
}

/// Column j is the distribution of the state after j, whatever was emitted.
py::object transition(const py::object& self) {
  const auto& file = self.cast<const ModelFile&>();
  if (const auto* edge = std::get_if<EdgeHmm>(&file.model)) {
    const RealMatrix sum = edge->transition();
    py::array_t<double> out({sum.rows(), sum.cols()});
    auto to = out.mutable_unchecked<2>();
    for (Index i = 0; i < sum.rows(); ++i)
      for (Index j = 0; j < sum.cols(); ++j) to(i, j) = sum(i, j);
    return out;
  }
  return matrix(as_hmm(file).transition, self);
}

py::array initial(const py::object& self) {
  const auto& file = self.cast<const ModelFile&>();
  if (const auto* edge = std::get_if<EdgeHmm>(&file.model)) return vector(edge->initial, self);
  return vector(as_hmm(file).initial, self);
}

Score score_device(const std::string& device, const ModelFile& file, const SequenceSet& set,
                   std::size_t burn_in, int threads) {
  return Watch().run_interruptible([&] {
    const auto gpu = open_device(enum_named<DeviceKind>(device));
    return score_on(file.model, set, {.burn_in = burn_in, .threads = threads}, gpu.get());
  });
}

py::array_t<double> score_sequences(const ModelFile& file, const SequenceSet& set,
                                    std::size_t burn_in, int threads, const std::string& device) {
  const Score found = score_device(device, file, set, burn_in, threads);
  py::array_t<double> out(static_cast<py::ssize_t>(set.size()));
  auto to = out.mutable_unchecked<1>();
  for (py::ssize_t i = 0; i < to.shape(0); ++i)
    to(i) = found.per_sequence[static_cast<std::size_t>(i)].log_likelihood;
  return out;
}

py::object score_figures(const ModelFile& file, const SequenceSet& set, std::size_t burn_in,
                         int threads, const std::string& device) {
  const Score found = score_device(device, file, set, burn_in, threads);
  return to_python(score_json(found).dump());
}

/// Walks every sequence; after every symbol `each(filter, row)`, the rows counted through.
template <typename Each>
void walk(const ModelFile& file, const SequenceSet& set, Each each) {
  const auto walk_with = [&](auto filter) {
    std::size_t row = 0;
    for (std::size_t i = 0; i < set.size(); ++i) {
      filter.restart(set[i].size());
      for (std::size_t t = 0; t < set[i].size(); ++t) {
        check_interruption(row);
        filter.step(set[i][t]);
        each(filter, row++, t + 1 == set[i].size() ? static_cast<std::ptrdiff_t>(i) : -1);
      }
    }
  };
  Watch().run_interruptible([&] {
    require_fitting(file.model, set);
    std::visit([&](const auto& model) { walk_with(make_filter(model)); }, file.model);
    return 0;
  });
}

/// After every symbol, or after the last one of each sequence only.
py::array_t<double> predict(const ModelFile& file, const SequenceSet& set, std::size_t steps,
                            bool last_only) {
  const std::size_t s = alphabet_of(file.model).size();
  const std::size_t rows = last_only ? set.size() : set.symbol_count();
  py::array_t<double> out({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(s)});
  const std::span<double> to(out.mutable_data(), rows * s);
  walk(file, set, [&](const auto& filter, std::size_t row, std::ptrdiff_t ended) {
    if (last_only && ended < 0) return;
    const std::size_t place = last_only ? static_cast<std::size_t>(ended) : row;
    predict_ahead(filter, steps, to.subspan(place * s, s));
  });
  return out;
}

// A density matrix of an HQMM, a distribution over states of an HMM, the `row`-th of its array.
void copy_state(const HqmmFilter& filter, std::size_t row, Complex* to) {
  const Matrix rho = filter.state();
  Eigen::Map<Stack>(to + static_cast<Index>(row) * rho.size(), rho.rows(), rho.cols()) = rho;
}
template <typename Filter>
requires(!std::is_same_v<Filter, HqmmFilter>) void copy_state(const Filter& filter, std::size_t row,
                                                              double* to) {
  const RealVector& x = filter.state();
  Eigen::Map<RealVector>(to + static_cast<Index>(row) * x.size(), x.size()) = x;
}

template <typename T>
py::array states_of(const ModelFile& file, const SequenceSet& set,
                    const std::vector<py::ssize_t>& shape) {
  py::array_t<T> out(shape);
  T* to = out.mutable_data();
  walk(file, set, [&](const auto& filter, std::size_t row, std::ptrdiff_t) {
    if constexpr (requires { copy_state(filter, row, to); }) copy_state(filter, row, to);
  });
  return out;
}

/// The state after every symbol: (symbols, n, n), or (symbols, n) of an HMM.
py::object filter_states(const ModelFile& file, const SequenceSet& set) {
  const auto rows = static_cast<py::ssize_t>(set.symbol_count());
  const auto n = std::visit([](const auto& m) { return static_cast<py::ssize_t>(m.latent_dim()); },
                            file.model);
  if (std::holds_alternative<Hqmm>(file.model))
    return of_field(file.model, states_of<Complex>(file, set, {rows, n, n}));
  return states_of<double>(file, set, {rows, n});
}

py::array_t<std::int64_t> draw(const ModelFile& file, std::size_t count, std::size_t length,
                               std::uint64_t seed, int threads) {
  SampleOptions options;
  options.count = count;
  options.length = length;
  options.seed = seed;
  options.threads = threads;
  py::array_t<std::int64_t> out(
      {static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(length)});
  std::int64_t* to = out.mutable_data();
  const SequenceSet set = Watch().run_interruptible([&] { return sample(file.model, options); });
  for (std::size_t i = 0; i < set.symbols().size(); ++i) *to++ = set.symbols()[i];
  return out;
}

/// A filter that keeps its model alive: one symbol in, what is known of the next one out.
class Stream {
 public:
  explicit Stream(std::shared_ptr<const ModelFile> file)
      : file_(std::move(file)),
        filter_(std::visit([](const auto& m) { return AnyFilter(make_filter(m)); }, file_->model)) {
    restart();
  }
  void restart() {
    std::visit([](auto& filter) { filter.restart(); }, filter_);
  }
  /// log P(symbol | past); a negative symbol is a missing one and weighs nothing. What encode()
  /// made may be a set.
  double push(std::int64_t symbol, bool encoded) {
    const std::size_t s = alphabet_of(file_->model).size();
    if (!encoded && symbol >= 0 && static_cast<std::size_t>(symbol) >= s)
      throw fail(ErrorCode::kBadData, "symbol {} is beyond the alphabet of {} symbols", symbol, s);
    const Symbol y = symbol < 0 ? kMissing : static_cast<Symbol>(symbol);
    const StepWeight weight = std::visit([&](auto& filter) { return filter.step(y); }, filter_);
    return std::log(weight.raw / weight.total);
  }
  [[nodiscard]] py::array_t<double> next(std::size_t steps) const {
    const std::size_t s = alphabet_of(file_->model).size();
    py::array_t<double> out(static_cast<py::ssize_t>(s));
    const std::span<double> to(out.mutable_data(), s);
    std::visit([&](const auto& filter) { predict_ahead(filter, steps, to); }, filter_);
    return out;
  }
  [[nodiscard]] py::object state() const {
    return std::visit(
        [this](const auto& filter) -> py::object {
          const auto& x = filter.state();
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Matrix>) {
            py::array_t<Complex> out({x.rows(), x.cols()});
            copy_state(filter, 0, out.mutable_data());
            return of_field(file_->model, out);
          } else {
            return py::array_t<double>(x.size(), x.data());
          }
        },
        filter_);
  }

 private:
  using AnyFilter = std::variant<HmmFilter, HqmmFilter, EdgeHmmFilter>;
  std::shared_ptr<const ModelFile> file_;
  AnyFilter filter_;
};

/// kraus: (s, w, n, n); one Kraus set.
ModelFile from_kraus(const py::array_t<Complex, py::array::c_style | py::array::forcecast>& kraus,
                     const py::array_t<Complex, py::array::c_style | py::array::forcecast>& state,
                     const Alphabet& alphabet) {
  if (kraus.ndim() != 4 || state.ndim() != 2)
    throw fail(ErrorCode::kBadData, "kraus must have shape (s, w, n, n), initial_state (n, n)");
  const auto shape = [](const py::array& array) {
    return std::vector<std::size_t>(array.shape(), array.shape() + array.ndim());
  };
  ModelArrays arrays;
  arrays.format = std::string(kModelFormat);
  arrays.version = kPlainVersion;
  arrays.kind = "hqmm";
  arrays.alphabet = alphabet.all_tokens();
  arrays.arrays["kraus"] = {shape(kraus), {kraus.data(), kraus.data() + kraus.size()}, true};
  arrays.arrays["initial_state"] = {
      shape(state), {state.data(), state.data() + state.size()}, true};
  return assemble(arrays, "the arrays");
}

void bind_class(py::module_& m) {
  py::class_<ModelFile, std::shared_ptr<ModelFile>>(m, "Model")
      .def_static("load", &read_model)
      .def_static("from_kraus", &from_kraus, py::arg("kraus"), py::arg("initial_state"),
                  py::arg("alphabet"))
      .def("save", [](const ModelFile& file, const std::string& path) { write_model(path, file); })
      .def("to_bytes", &model_bytes)
      .def_static("from_bytes",
                  [](const std::string& bytes) { return parse_model(bytes, "bytes"); })
      .def(py::pickle(&model_bytes,
                      [](const py::bytes& bytes) { return parse_model(bytes, "the pickle"); }))
      .def_property_readonly("kind", [](const ModelFile& f) { return kind_of(f.model); })
      .def_property_readonly("emission_kind", &emission_of)
      .def_property_readonly("field", [](const ModelFile& f) { return name_of(as_hqmm(f).field); })
      .def_property_readonly("n_kraus", [](const ModelFile& f) { return as_hqmm(f).kraus_rank(); })
      .def_property_readonly("alphabet", [](const ModelFile& f) { return alphabet_of(f.model); })
      .def_property_readonly("provenance",
                             [](const ModelFile& f) { return to_python(f.provenance); })
      .def_property_readonly("feasibility_residual",
                             [](const ModelFile& f) { return feasibility_residual(f.model); })
      .def_property_readonly("feasible", [](const ModelFile& f) { return is_feasible(f.model); })
      .def_property_readonly("kraus_sets", &kraus_sets)
      .def_property_readonly("transition_sets", &transition_sets)
      .def_property_readonly("emission_sets", &emission_sets)
      .def_property_readonly("position_map",
                             [](const ModelFile& f) { return as_hqmm(f).positions.entries(); })
      .def_property_readonly("initial_state",
                             [](const py::object& self) {
                               const auto& file = self.cast<const ModelFile&>();
                               return of_field(file.model,
                                               matrix(as_hqmm(file).initial_state, self));
                             })
      .def_property_readonly("transition", &transition)
      .def_property_readonly("edges", &edges)
      .def_property_readonly("emission",
                             [](const py::object& self) {
                               return matrix(as_hmm(self.cast<const ModelFile&>()).emission, self);
                             })
      .def_property_readonly("initial", &initial)
      .def("score", &score_figures, py::arg("sequences"), py::arg("burn_in") = 0,
           py::arg("threads") = 1, py::arg("device") = "cpu")
      .def("score_sequences", &score_sequences, py::arg("sequences"), py::arg("burn_in") = 0,
           py::arg("threads") = 1, py::arg("device") = "cpu")
      .def("predict", &predict, py::arg("sequences"), py::arg("steps") = 1,
           py::arg("last_only") = false)
      .def("filter", &filter_states, py::arg("sequences"))
      .def("sample", &draw, py::arg("count"), py::arg("length"), py::arg("seed"),
           py::arg("threads") = 1);
}

}  // namespace

void bind_model(py::module_& m) {
  bind_class(m);
  py::class_<Stream>(m, "Stream")
      .def(py::init<std::shared_ptr<ModelFile>>())
      .def("restart", &Stream::restart)
      .def("push", &Stream::push, py::arg("symbol"), py::arg("encoded") = false)
      .def("next", &Stream::next, py::arg("steps") = 1)
      .def_property_readonly("state", &Stream::state);
}

}  // namespace hqmm::python
