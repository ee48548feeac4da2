// The library's option tables for Python: what each option is, and values of Python for them.
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "hqmm/learn/enum_names.hpp"

namespace hqmm::python {
namespace {

py::object as_object(const OptionValue& value) {
  return std::visit([](const auto& held) -> py::object { return py::cast(held); }, value);
}

/// numpy has a bool of its own that is not Python's.
bool is_bool(const py::handle& value) {
  const auto name = py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>();
  return PyBool_Check(value.ptr()) || name == "bool_" || name == "bool";
}

OptionValue whole_value(const py::object& number) {
  int overflow = 0;
  const std::int64_t small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return small;
  const std::uint64_t large = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() == nullptr) return large;
  PyErr_Clear();
  return py::str(number).cast<std::string>();  // no option takes it
}

/// Python's and numpy's numbers, truth values and text.
std::optional<OptionValue> option_value(const py::handle& value) {
  if (is_bool(value)) return py::cast<bool>(py::bool_(py::reinterpret_borrow<py::object>(value)));
  if (PyUnicode_Check(value.ptr())) return value.cast<std::string>();
  if (py::hasattr(value, "__len__")) return {};
  if (PyIndex_Check(value.ptr()))
    return whole_value(py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr())));
  if (!py::hasattr(value, "__float__")) return {};
  return value.attr("__float__")().cast<double>();
}

template <typename Options>
GivenOptions given_by(const OptionTable<Options>& table, const py::dict& values) {
  GivenOptions out;
  for (const auto& [key, value] : values) {
    const auto id = key.template cast<std::string>();
    const OptionRow<Options>* row = find_option(table, id);
    if (row == nullptr) throw no_such_option(id);
    const std::optional<OptionValue> found = option_value(value);
    if (!found) {
      throw fail(ErrorCode::kUsage, "{}: expected {}, found {}", option(id), expected_text(*row),
                 printable(py::repr(value).template cast<std::string>(), 60));
    }
    out.emplace(id, checked(*row, *found));
  }
  return out;
}

const char* type_text(OptionType type) {
  switch (type) {
    case OptionType::kSwitch:
      return "bool";
    case OptionType::kCount:
      return "int";
    case OptionType::kCountOrAuto:
      return "int or 'auto'";
    case OptionType::kBytes:
      return "int or str";
    case OptionType::kNumber:
      return "float";
    case OptionType::kWord:
    case OptionType::kText:
      break;
  }
  return "str";
}

std::string_view python_name(const OptionInfo& option) {
  return option.python_name.empty() ? option.id : option.python_name;
}

py::dict described(const OptionInfo& option, const OptionValue& value) {
  py::list learners;
  for (const auto& [learner, name] : EnumNames<LearnerKind>::kAll)
    if (option.is_about(learner)) learners.append(py::str(std::string(name)));
  py::dict out;
  out["id"] = std::string(option.id);
  out["name"] = std::string(python_name(option));
  out["type"] = type_text(option.type);
  out["words"] = std::vector<std::string>(option.words.begin(), option.words.end());
  out["expected"] = expected_text(option);
  out["help"] = std::string(option.help);
  out["learners"] = learners;
  out["default"] = as_object(value);
  out["by_data"] = option.by_data;
  return out;
}

/// With what each learner's recipe has.
py::dict of_training(const OptionRow<TrainOptions>& row) {
  py::dict recipes;
  for (const auto& [learner, name] : EnumNames<LearnerKind>::kAll)
    if (row.is_about(learner))
      recipes[py::str(std::string(name))] = as_object(row.get(default_options(learner)));
  py::dict out = described(row, row.get(TrainOptions{}));
  out["recipes"] = recipes;
  return out;
}

py::list train_options() {
  py::list out;
  for (const auto& row : train_option_table())
    if (!row.only_kept) out.append(of_training(row));
  return out;
}

py::list classifier_options() {
  py::list out;
  for (const auto& row : classifier_option_table())
    if (!row.only_kept) out.append(described(row, row.get(ClassifierOptions{})));
  return out;
}

}  // namespace

GivenOptions given_train_options(const py::dict& values) {
  return given_by(train_option_table(), values);
}

GivenOptions given_classifier_options(const py::dict& values) {
  return given_by(classifier_option_table(), values);
}

std::string python_words(std::string_view id, std::string_view value) {
  const auto* row = find_option(train_option_table(), id);
  const std::string name(row != nullptr ? python_name(*row) : id);
  if (value.empty()) return name;
  const bool number = value.find_first_not_of("0123456789.-") == std::string_view::npos;
  return number ? fmt::format("{}={}", name, value) : fmt::format("{}='{}'", name, value);
}

py::object to_python(const nlohmann::ordered_json& json) {
  if (json.is_object()) {
    py::dict out;
    for (const auto& [key, value] : json.items()) out[py::str(key)] = to_python(value);
    return out;
  }
  if (json.is_array()) {
    py::list out;
    for (const auto& value : json) out.append(to_python(value));
    return out;
  }
  if (json.is_boolean()) return py::bool_(json.get<bool>());
  if (json.is_number_unsigned()) return py::int_(json.get<std::uint64_t>());
  if (json.is_number_integer()) return py::int_(json.get<std::int64_t>());
  if (json.is_number()) return py::float_(json.get<double>());
  if (json.is_string()) return py::str(json.get<std::string>());
  return py::none();
}

void bind_options(py::module_& m) {
  m.def("train_options", &train_options);
  m.def("classifier_options", &classifier_options);
}

}  // namespace hqmm::python
