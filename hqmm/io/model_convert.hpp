// A model file turned into another kind of model with exactly the same probabilities; its
// provenance says so.
#pragma once

#include "hqmm/io/model_file.hpp"

namespace hqmm::detail {

struct EmbedOptions {
  bool cyclic = false;  // full-rank operators, else those of rank one: model/embedding.hpp
  EmissionKind emission = EmissionKind::kEdge;
  Field field = Field::kComplex;
};

/// An HMM becomes an HQMM; its provenance says "embedded_from_hmm". Throws kUsage for an HQMM, and
/// for emission on states of an HMM that emits on its edges.
void embed_file(ModelFile& file, const EmbedOptions& options);

/// A structured HQMM becomes one of plain complex Kraus operators; its provenance says
/// "expanded_from". Plain models and HMMs stay as they are.
void expand_file(ModelFile& file);

}  // namespace hqmm::detail
