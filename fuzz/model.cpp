// Model files in JSON. What was read is written and read again.
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"

#include "hqmm/io/input.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void model(std::string_view bytes) {
  if (bytes.starts_with(kHdf5Magic) || bytes.starts_with("MATLAB")) return;  // see model_binary
  ModelFile file;
  if (!read_or_refuse([&] { file = parse_model(std::string(bytes), "fuzz.json"); })) return;
  const std::string written = serialize_model(file, ModelFormat::kJson);
  const ModelFile again = parse_model(written, "fuzz.json");
  if (serialize_model(again, ModelFormat::kJson) != written)
    bug("what was written reads otherwise");
}

}  // namespace hqmm::fuzz
