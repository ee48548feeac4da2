// An .npz file is a ZIP archive of .npy files. Ours is stored, not packed, and bears no time.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "hqmm/circuit/write.hpp"

namespace hqmm::detail {
namespace {

std::string raw(const void* data, std::size_t size) {
  std::string out(size, '\0');
  if (size > 0) std::memcpy(out.data(), data, size);
  return out;
}

/// Version 1.0: magic, length of the header, the header padded to a multiple of 64.
std::string npy(const char* type, const std::string& shape, bool fortran, const std::string& data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", type,
                                   fortran ? "True" : "False", shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xFFU);
  out += static_cast<char>(header.size() >> 8U);
  return out + header + data;
}

std::string matrix_npy(const Matrix& matrix) {
  const auto size = static_cast<std::size_t>(matrix.size()) * sizeof(Complex);
  return npy("<c16", fmt::format("{}, {}", matrix.rows(), matrix.cols()), true,
             raw(matrix.data(), size));
}

std::string numbers_npy(const std::vector<std::int64_t>& values, const std::string& shape) {
  return npy("<i8", shape, false, raw(values.data(), values.size() * sizeof(std::int64_t)));
}

class Archive {
 public:
  void add(const std::string& name, const std::string& content) {
    const auto crc = static_cast<std::uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    std::string fields;
    put16(fields, 20);    // version needed
    put16(fields, 0);     // flags
    put16(fields, 0);     // stored
    put16(fields, 0);     // time
    put16(fields, 0x21);  // 1980-01-01
    put32(fields, crc);
    put32(fields, static_cast<std::uint32_t>(content.size()));
    put32(fields, static_cast<std::uint32_t>(content.size()));
    put16(fields, static_cast<std::uint32_t>(name.size()));
    put16(fields, 0);
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    bytes_ += "PK\x03\x04" + fields + name + content;
    directory_ += "PK\x01\x02";
    put16(directory_, 20);
    directory_ += fields;
    directory_ += std::string(10, '\0');  // comment, disk, attributes
    put32(directory_, offset);
    directory_ += name;
    ++entries_;
  }

  [[nodiscard]] std::string finish() const {
    std::string end = "PK\x05\x06" + std::string(4, '\0');
    put16(end, entries_);
    put16(end, entries_);
    put32(end, static_cast<std::uint32_t>(directory_.size()));
    put32(end, static_cast<std::uint32_t>(bytes_.size()));
    put16(end, 0);
    return bytes_ + directory_ + end;
  }

 private:
  static void put16(std::string& out, std::uint32_t value) {
    out += static_cast<char>(value & 0xFFU);
    out += static_cast<char>(value >> 8U & 0xFFU);
  }
  static void put32(std::string& out, std::uint32_t value) {
    put16(out, value & 0xFFFFU);
    put16(out, value >> 16U);
  }

  std::string bytes_, directory_;
  std::uint32_t entries_ = 0;
};

/// NAME_qubits: target and control, −1 for none; NAME_angles: θ, φ, λ; NAME_unitary.
void add_circuit(Archive& archive, const std::string& name, const Circuit& circuit) {
  std::vector<std::int64_t> qubits;
  std::vector<double> angles;
  for (const Gate& gate : circuit.gates) {
    qubits.insert(qubits.end(), {gate.target, gate.control});
    angles.insert(angles.end(), {gate.theta, gate.phi, gate.lambda});
  }
  archive.add(name + "_qubits.npy",
              numbers_npy(qubits, fmt::format("{}, 2", circuit.gates.size())));
  archive.add(name + "_angles.npy", npy("<f8", fmt::format("{}, 3", circuit.gates.size()), false,
                                        raw(angles.data(), angles.size() * sizeof(double))));
  archive.add(name + "_unitary.npy",
              matrix_npy(unitary_columns(circuit, Index{1} << circuit.qubits)));
}

}  // namespace

std::string write_npz(const ModelCircuit& circuit) {
  Archive archive;
  const auto number = [&](const char* name, Index value) {
    archive.add(std::string(name) + ".npy", numbers_npy({value}, ""));
  };
  number("qubits", circuit.qubits());
  number("system_qubits", circuit.system_qubits);
  number("measured_qubits", circuit.measured_qubits);
  number("outcomes_per_symbol", circuit.outcomes_per_symbol);
  archive.add("order.npy", numbers_npy({circuit.order.begin(), circuit.order.end()},
                                       fmt::format("{},", circuit.order.size())));
  add_circuit(archive, "prepare", circuit.prepare);
  for (std::size_t k = 0; k < circuit.steps.size(); ++k) {
    add_circuit(archive, fmt::format("evolve_{}", k), circuit.steps[k].evolve);
    if (circuit.steps[k].emit)
      add_circuit(archive, fmt::format("emit_{}", k), *circuit.steps[k].emit);
  }
  return archive.finish();
}

std::string write_circuit(const ModelCircuit& circuit, CircuitFormat format) {
  switch (format) {
    case CircuitFormat::kOpenQasm3:
      return write_openqasm3(circuit);
    case CircuitFormat::kOpenQasm2:
      return write_openqasm2(circuit);
    case CircuitFormat::kQutip:
      return write_qutip(circuit);
    case CircuitFormat::kNpz:
      break;
  }
  return write_npz(circuit);
}

}  // namespace hqmm::detail
