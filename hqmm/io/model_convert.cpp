#include "hqmm/io/model_convert.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/model/embedding.hpp"

namespace hqmm::detail {
namespace {

/// Adds a fact to what a file says of its origin.
void note(ModelFile& file, const char* name, const nlohmann::json& value) {
  auto provenance = parse_json(file.provenance);
  if (!provenance.is_object()) provenance = nlohmann::json::object();
  provenance[name] = value;
  file.provenance = json_text(provenance);
}

Hqmm embedded(const AnyModel& model, const EmbedOptions& options) {
  const EmissionKind emission = options.emission;
  if (const auto* hmm = std::get_if<Hmm>(&model))
    return options.cyclic ? embed_cyclic(*hmm, emission) : embed_rank_one(*hmm, emission);
  const auto* hmm = std::get_if<EdgeHmm>(&model);
  if (hmm == nullptr)
    throw fail(ErrorCode::kUsage, "{} takes an HMM; this is an HQMM already", option("embed"));
  if (emission == EmissionKind::kState) {
    throw fail(ErrorCode::kUsage,
               "{} takes an HMM that emits on its states; this one emits on its edges",
               option("emission", "state"));
  }
  return options.cyclic ? embed_cyclic(*hmm) : embed_rank_one(*hmm);
}

const char* word_of(Field field) { return field == Field::kReal ? "real" : "complex"; }
const char* word_of(EmissionKind kind) { return kind == EmissionKind::kState ? "state" : "edge"; }

}  // namespace

void embed_file(ModelFile& file, const EmbedOptions& options) {
  Hqmm model = embedded(file.model, options);
  model.field = options.field;
  file.model = std::move(model);
  note(file, "embedded_from_hmm", options.cyclic ? "cyclic" : "rank-one");
}

void expand_file(ModelFile& file) {
  const auto* model = std::get_if<Hqmm>(&file.model);
  if (model == nullptr) return;
  if (model->field == Field::kComplex && model->emits_on() == EmissionKind::kEdge) return;
  const nlohmann::json was{{"field", word_of(model->field)},
                           {"emission", word_of(model->emits_on())}};
  Hqmm plain = expanded(*model);
  plain.field = Field::kComplex;
  file.model = std::move(plain);
  note(file, "expanded_from", was);
}

}  // namespace hqmm::detail
