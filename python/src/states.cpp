// What a whole sequence says of the hidden states: Viterbi paths and posteriors of HMMs, smoothed
// states and effects of HQMMs.
#include <algorithm>

#include "binding.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

/// work(i, first): sequence i, whose symbols begin at `first` of all.
template <typename Work>
void each_sequence(const ModelFile& file, const SequenceSet& set, int threads, const Work& work) {
  Watch().run_interruptible([&] {
    require_fitting(file.model, set);
    parallel_for(set.size(), threads, [&](std::size_t i) { work(i, set.offsets()[i]); });
    return 0;
  });
}

/// Calls it with the model, if that is an HMM of either type.
template <typename Work>
void of_hmm(const ModelFile& file, const Work& work) {
  if (const auto* hmm = std::get_if<Hmm>(&file.model)) return work(*hmm);
  if (const auto* hmm = std::get_if<EdgeHmm>(&file.model)) return work(*hmm);
  throw fail(ErrorCode::kUsage, "this is a model of kind hqmm, not hmm");
}

/// (log-probability of every sequence's path, states of all symbols).
py::tuple viterbi(const ModelFile& file, const SequenceSet& set, int threads) {
  py::array_t<double> logs(static_cast<py::ssize_t>(set.size()));
  py::array_t<std::int64_t> states(static_cast<py::ssize_t>(set.symbol_count()));
  double* log = logs.mutable_data();
  std::int64_t* state = states.mutable_data();
  of_hmm(file, [&](const auto& hmm) {
    each_sequence(file, set, threads, [&](std::size_t i, std::size_t first) {
      const StatePath path = most_probable_path(hmm, set[i]);
      log[i] = path.log_probability;
      std::copy(path.states.begin(), path.states.end(), state + first);
    });
  });
  return py::make_tuple(logs, states);
}

/// (log-likelihood of every sequence, posteriors (symbols, n)).
py::tuple posteriors(const ModelFile& file, const SequenceSet& set, int threads) {
  const auto n = std::visit([](const auto& m) { return m.latent_dim(); }, file.model);
  py::array_t<double> logs(static_cast<py::ssize_t>(set.size()));
  py::array_t<double> states({static_cast<py::ssize_t>(set.symbol_count()), py::ssize_t{n}});
  double* log = logs.mutable_data();
  double* state = states.mutable_data();
  of_hmm(file, [&](const auto& hmm) {
    each_sequence(file, set, threads, [&](std::size_t i, std::size_t first) {
      const StatePosteriors found = state_posteriors(hmm, set[i]);
      log[i] = found.log_likelihood;
      std::copy_n(found.states.data(), found.states.size(), state + static_cast<Index>(first) * n);
    });
  });
  return py::make_tuple(logs, states);
}

/// (symbols, n, n): what `made` makes of the pair of past and future after each symbol.
py::object retrodicted(const ModelFile& file, const SequenceSet& set, int threads,
                       Matrix (*made)(const PastQuantumState&)) {
  const auto* model = std::get_if<Hqmm>(&file.model);
  if (model == nullptr) throw fail(ErrorCode::kUsage, "this is a model of kind hmm, not hqmm");
  const Index n = model->latent_dim();
  py::array_t<Complex> out(
      {static_cast<py::ssize_t>(set.symbol_count()), py::ssize_t{n}, py::ssize_t{n}});
  Complex* to = out.mutable_data();
  each_sequence(file, set, threads, [&](std::size_t i, std::size_t first) {
    retrodict(*model, set[i], [&](std::size_t t, const PastQuantumState& pair) {
      Eigen::Map<Stack>(to + static_cast<Index>(first + t) * n * n, n, n) = made(pair);
    });
  });
  if (model->field == Field::kReal) return out.attr("real");
  return out;
}

py::object smooth(const ModelFile& file, const SequenceSet& set, int threads) {
  return retrodicted(file, set, threads, &smoothed_state);
}

py::object effects(const ModelFile& file, const SequenceSet& set, int threads) {
  return retrodicted(file, set, threads, [](const PastQuantumState& pair) { return pair.effect; });
}

}  // namespace

void bind_states(py::module_& m) {
  m.def("viterbi", &viterbi, py::arg("model"), py::arg("sequences"), py::arg("threads") = 1);
  m.def("posteriors", &posteriors, py::arg("model"), py::arg("sequences"), py::arg("threads") = 1);
  m.def("smooth", &smooth, py::arg("model"), py::arg("sequences"), py::arg("threads") = 1);
  m.def("effects", &effects, py::arg("model"), py::arg("sequences"), py::arg("threads") = 1);
}

}  // namespace hqmm::python
