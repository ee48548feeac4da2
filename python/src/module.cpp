// hqmm._core: thin; everything people meet is in python/hqmm.
#include <cctype>
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "hqmm/core/simd.hpp"

namespace hqmm::python {
namespace {

void rename_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), to);
}

/// "--step-size" is the command line's name of step_size.
std::string with_python_names(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool flag = text.compare(i, 2, "--") == 0 && i + 2 < text.size() &&
                      std::islower(static_cast<unsigned char>(text[i + 2])) != 0;
    if (!flag) {
      out += text[i];
      continue;
    }
    std::string name;
    for (i += 2; i < text.size(); ++i) {
      const char c = text[i];
      if (std::islower(static_cast<unsigned char>(c)) == 0 && c != '-') break;
      name += c == '-' ? '_' : c;
    }
    --i;
    out += name;
  }
  rename_all(out, "latent_dim", "n_states");
  rename_all(out, "kraus_rank", "n_kraus");
  return out;
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
    PyErr_SetString(exception_for(error.code()), with_python_names(error.what()).c_str());
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
  m.attr("simd_target") = std::string(hqmm::simd_target());
  py::register_exception_translator(&translate);
  bind_sequences(m);
  bind_model(m);
  bind_training(m);
  bind_classifier(m);
}
