// Sequences and alphabets: numpy arrays of symbols become a SequenceSet, checked on the way.
#include <algorithm>
#include <cstdint>

#include "binding.hpp"
#include "hqmm/data/symbol_sets.hpp"

namespace hqmm::python {
namespace {

using Lengths = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Mask = py::array_t<bool, py::array::c_style | py::array::forcecast>;

template <typename T>
Symbol checked(T value, std::size_t position, std::size_t alphabet_size) {
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) {
      throw fail(ErrorCode::kBadData,
                 "symbols are not negative: found {} at position {} (mask missing symbols: "
                 "numpy.ma.masked_equal(X, {}))",
                 value, position, value);
    }
  }
  if (static_cast<std::uint64_t>(value) >= alphabet_size) {
    throw fail(ErrorCode::kBadData,
               "symbol {} at position {} is beyond the alphabet of {} symbols (0..{})", value,
               position, alphabet_size, alphabet_size - 1);
  }
  return static_cast<Symbol>(value);
}

/// `numbers`: of symbols, and of sets where those may occur.
template <typename T>
void fill(SequenceSet& set, const py::array& symbols, const Lengths& lengths, const bool* missing,
          const std::vector<std::string>& labels, std::size_t numbers) {
  const T* from = static_cast<const T*>(symbols.data());
  std::size_t at = 0;
  for (py::ssize_t i = 0; i < lengths.size(); ++i) {
    const std::size_t end = at + static_cast<std::size_t>(lengths.at(i));
    for (; at < end; ++at) {
      const bool hidden = missing != nullptr && missing[at];
      set.push_back(hidden ? kMissing : checked(from[at], at, numbers));
    }
    if (labels.empty()) {
      set.end_sequence();
    } else {
      set.end_sequence_labelled(labels[static_cast<std::size_t>(i)]);
    }
  }
}

void require_lengths(const Lengths& lengths, py::ssize_t symbols, std::size_t labels) {
  py::ssize_t sum = 0;
  for (py::ssize_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t length = lengths.at(i);
    if (length < 1 || length > symbols - sum)
      throw fail(ErrorCode::kBadData, "lengths do not cut {} symbols into sequences", symbols);
    sum += length;
  }
  if (sum != symbols)
    throw fail(ErrorCode::kBadData, "lengths sum to {}, X has {} symbols", sum, symbols);
  if (labels != 0 && labels != static_cast<std::size_t>(lengths.size()))
    throw fail(ErrorCode::kBadData, "{} sequences, but {} labels", lengths.size(), labels);
}

using Fill = void (*)(SequenceSet&, const py::array&, const Lengths&, const bool*,
                      const std::vector<std::string>&, std::size_t);

/// By width and sign: int64 has two names, long and long long.
Fill fill_for(const py::dtype& type) {
  const bool is_signed = type.kind() == 'i';
  if (!is_signed && type.kind() != 'u')
    throw fail(ErrorCode::kBadData, "symbols must be integers, found dtype {}",
               py::cast<std::string>(type.attr("name")));
  switch (type.itemsize()) {
    case 1:
      return is_signed ? &fill<std::int8_t> : &fill<std::uint8_t>;
    case 2:
      return is_signed ? &fill<std::int16_t> : &fill<std::uint16_t>;
    case 4:
      return is_signed ? &fill<std::int32_t> : &fill<std::uint32_t>;
    default:
      return is_signed ? &fill<std::int64_t> : &fill<std::uint64_t>;
  }
}

/// "dna", "rna" or "protein"; nothing for any other.
std::string name_of_alphabet(const Alphabet& alphabet) {
  switch (alphabet.kind()) {
    case Alphabet::Kind::kDna:
      return "dna";
    case Alphabet::Kind::kRna:
      return "rna";
    case Alphabet::Kind::kProtein:
      return "protein";
    default:
      return "";
  }
}

/// "[AG]" for every set of an alphabet, in the order of their numbers.
std::vector<std::string> set_tokens(const Alphabet& alphabet) {
  std::vector<std::string> out;
  if (name_of_alphabet(alphabet).empty()) return out;
  for (std::size_t i = 0; i < set_letters(alphabet.size()).size(); ++i) {
    const auto number = static_cast<Symbol>(alphabet.size() + i);
    std::string& token = out.emplace_back("[");
    for (const Symbol y : members(alphabet.size(), number)) token += alphabet.token(y);
    token += ']';
  }
  return out;
}

/// `symbols`: one contiguous axis in native byte order; `encoded`: by encode(), so that they may be
/// sets.
SequenceSet make_sequences(const py::array& symbols, const Lengths& lengths,
                           const Alphabet& alphabet, const std::optional<Mask>& missing,
                           const std::vector<std::string>& labels,
                           const std::vector<double>& weights, bool encoded) {
  if (symbols.ndim() != 1 || (symbols.size() > 1 && symbols.strides(0) != symbols.itemsize()))
    throw fail(ErrorCode::kInternal, "symbols must be one contiguous axis");
  if (missing && missing->size() != symbols.size())
    throw fail(ErrorCode::kInternal, "the mask must be as long as the symbols");
  require_lengths(lengths, symbols.size(), labels.size());
  const Fill fill_set = fill_for(symbols.dtype());
  SequenceSet set(alphabet);
  const bool* mask = missing ? missing->data() : nullptr;
  const std::size_t sets = set_tokens(alphabet).size();
  const py::gil_scoped_release nogil;
  const std::size_t numbers = alphabet.size() + (encoded ? sets : 0);
  fill_set(set, symbols, lengths, mask, labels, numbers);
  if (!weights.empty()) set.set_weights(weights);
  return set;
}

/// The symbol or the set of each token; −1 for a missing one. Throws for a token that is not of the
/// alphabet.
py::array_t<std::int64_t> encode(const Alphabet& alphabet, const std::vector<std::string>& tokens) {
  py::array_t<std::int64_t> out(static_cast<py::ssize_t>(tokens.size()));
  auto to = out.mutable_unchecked<1>();
  const std::vector<std::string> sets = set_tokens(alphabet);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    const bool ambiguous = token.size() == 1 && alphabet.is_ambiguity_code(token.front());
    std::optional<Symbol> found = ambiguous ? kMissing : alphabet.find(token);
    if (const auto set = std::find(sets.begin(), sets.end(), token); set != sets.end())
      found = static_cast<Symbol>(alphabet.size() + static_cast<std::size_t>(set - sets.begin()));
    if (!found) {
      throw fail(ErrorCode::kBadData, "'{}' is not of the alphabet: {}", printable(token),
                 alphabet.description());
    }
    to(static_cast<py::ssize_t>(i)) = *found == kMissing ? -1 : std::int64_t{*found};
  }
  return out;
}

/// All symbols, concatenated; −1 for a missing one.
py::array_t<std::int64_t> symbols_of(const SequenceSet& set) {
  const SymbolBlock& from = set.symbols();
  py::array_t<std::int64_t> out(static_cast<py::ssize_t>(from.size()));
  auto to = out.mutable_unchecked<1>();
  for (std::size_t i = 0; i < from.size(); ++i)
    to(static_cast<py::ssize_t>(i)) = from[i] == kMissing ? -1 : std::int64_t{from[i]};
  return out;
}

py::array_t<std::int64_t> lengths_of(const SequenceSet& set) {
  py::array_t<std::int64_t> out(static_cast<py::ssize_t>(set.size()));
  auto to = out.mutable_unchecked<1>();
  for (std::size_t i = 0; i < set.size(); ++i)
    to(static_cast<py::ssize_t>(i)) = static_cast<std::int64_t>(set[i].size());
  return out;
}

/// The class of every sequence, None for one without; nothing when there are no classes.
py::object labels_of(const SequenceSet& set) {
  if (!set.labelled()) return py::none();
  py::list out;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint32_t label = set.label(i);
    out.append(label == SequenceSet::kNoLabel ? py::object(py::none())
                                              : py::object(py::str(set.classes()[label])));
  }
  return out;
}

py::object names_of(const SequenceSet& set) {
  if (!set.named()) return py::none();
  py::list out;
  for (std::size_t i = 0; i < set.size(); ++i) out.append(py::str(set.name(i)));
  return out;
}

/// Files as the command line reads them; warnings are handed on to `on_warning`.
SequenceSet read_files(const std::vector<std::string>& paths,
                       const std::optional<Alphabet>& alphabet, const std::string& format,
                       const std::string& ambiguous, const std::string& label_column,
                       const std::vector<std::string>& variables, std::optional<int> base,
                       const py::function& on_warning) {
  ReadOptions options;
  options.format = parse<Format>(format);
  options.alphabet = alphabet;
  options.label_column = label_column;
  options.variables = variables;
  options.base = base;
  options.on_warning = [&](const std::string& text) { on_warning(text); };
  options.ambiguous = parse<Ambiguous>(ambiguous);
  return read_sequences(paths, options);
}

}  // namespace

void bind_sequences(py::module_& m) {
  m.def("read", &read_files, py::arg("paths"), py::arg("alphabet"), py::arg("format"),
        py::arg("ambiguous"), py::arg("label_column"), py::arg("variables"), py::arg("base"),
        py::arg("on_warning"));
  py::class_<Alphabet>(m, "Alphabet")
      .def(py::init([](const std::string& text) { return Alphabet::parse(text); }))
      .def(py::init([](std::size_t size) { return Alphabet::integers(size); }))
      .def(py::init(
          [](std::vector<std::string> tokens) { return Alphabet::from_tokens(std::move(tokens)); }))
      .def("__len__", &Alphabet::size)
      .def(
          "__eq__", [](const Alphabet& a, const Alphabet& b) { return a == b; }, py::is_operator())
      .def("__repr__",
           [](const Alphabet& a) { return fmt::format("Alphabet({})", a.description()); })
      .def_property_readonly(
          "integers", [](const Alphabet& a) { return a.kind() == Alphabet::Kind::kIntegers; })
      .def_property_readonly("tokens", &Alphabet::all_tokens)
      .def_property_readonly("set_tokens", &set_tokens)
      .def_property_readonly("name", &name_of_alphabet)
      .def("encode", &encode);
  py::class_<SequenceSet, std::shared_ptr<SequenceSet>>(m, "Sequences")
      .def(py::init(&make_sequences), py::arg("symbols"), py::arg("lengths"), py::arg("alphabet"),
           py::arg("missing") = py::none(), py::arg("labels") = std::vector<std::string>(),
           py::arg("weights") = std::vector<double>(), py::arg("encoded") = false)
      .def("__len__", &SequenceSet::size)
      .def_property_readonly("alphabet", [](const SequenceSet& set) { return set.alphabet(); })
      .def_property_readonly("symbols", &symbols_of)
      .def_property_readonly("lengths", &lengths_of)
      .def_property_readonly("labels", &labels_of)
      .def_property_readonly("names", &names_of)
      .def_property_readonly("symbol_count", &SequenceSet::symbol_count)
      .def_property_readonly("hash", &SequenceSet::hash);
}

}  // namespace hqmm::python
