// Shared by the binding: numpy in and out, the GIL released around the library, Ctrl-C seen inside.
//
// HDF5 is entered with the GIL held: h5py in the same process does so too, and Debian's HDF5 is not
// made for two threads at a time.
#pragma once

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "library.hpp"

namespace hqmm::python {
using namespace detail;

namespace py = pybind11;

void bind_options(py::module_& m);
void bind_sequences(py::module_& m);
void bind_model(py::module_& m);
void bind_training(py::module_& m);
void bind_classifier(py::module_& m);
void bind_states(py::module_& m);
void bind_analysis(py::module_& m);
void bind_selection(py::module_& m);
void bind_report(py::module_& m);

/// Options by id, of Python's or numpy's types. Throws kUsage for a value that does not fit.
[[nodiscard]] GivenOptions given_train_options(const py::dict& values);
[[nodiscard]] GivenOptions given_classifier_options(const py::dict& values);

/// "n_states=4" for latent_dim and 4, words in quotes: an OptionNames.
[[nodiscard]] std::string python_words(std::string_view id, std::string_view value);

/// What a document holds, as dictionaries, lists and numbers.
[[nodiscard]] py::object to_python(const nlohmann::ordered_json& json);
/// json.loads, so that Python sees dictionaries and lists.
inline py::object to_python(const std::string& json) {
  return py::module_::import("json").attr("loads")(json);
}

/// An array over memory that `owner` keeps alive: no copy, and not to be written to.
template <typename T>
py::array borrowed(std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides, const T* data,
                   const py::handle& owner) {
  py::array out(py::dtype::of<T>(), std::move(shape), std::move(strides), data, owner);
  out.attr("setflags")(py::arg("write") = false);
  return out;
}

}  // namespace hqmm::python
