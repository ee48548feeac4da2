// hqmm._core: thin; everything people meet is in python/hqmm.
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/version.hpp"

namespace hqmm::python {
namespace {

std::string advice_on(const Error& error) {
  return error.situation() == Situation::kClassifierFile ? ": open it with hqmm.HQMMClassifier.load"
                                                         : "";
}

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kBadData:
      return PyExc_ValueError;
    case ErrorCode::kNoInput:
    case ErrorCode::kCannotWrite:
      return PyExc_OSError;
    case ErrorCode::kDiverged:
      return PyExc_ArithmeticError;
    case ErrorCode::kInterrupted:
      return PyExc_KeyboardInterrupt;
    case ErrorCode::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

void translate(std::exception_ptr raised) {
  try {
    if (raised) std::rethrow_exception(std::move(raised));
  } catch (const Error& error) {
    const std::string text = error.text(python_words) + advice_on(error);
    PyErr_SetString(exception_for(error.code()), text.c_str());
  } catch (const nlohmann::json::exception& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

}  // namespace
}  // namespace hqmm::python

PYBIND11_MODULE(_core, m) {
  using namespace hqmm::python;
  m.doc() = "The compiled part of hqmm.";
  m.attr("__version__") = HQMM_VERSION;
  m.attr("simd_target") = std::string(hqmm::detail::simd_target());
  py::register_exception_translator(&translate);
  bind_options(m);
  bind_sequences(m);
  bind_model(m);
  bind_training(m);
  bind_classifier(m);
  bind_states(m);
  bind_analysis(m);
  bind_selection(m);
  bind_report(m);
}
