// Files of structured models: version 2, every bit kept, and plain models as they always were.
#include <fmt/core.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

using Anchor = PositionMap::Anchor;

constexpr ModelFormat kFormats[] = {ModelFormat::kHdf5, ModelFormat::kJson, ModelFormat::kMat};

bool is_plain(const Hqmm& model) {
  return model.field == Field::kComplex && model.emits_on() == EmissionKind::kEdge;
}

/// Stationary ones, and position-dependent ones anchored at either end.
std::vector<Hqmm> stored_models() {
  std::vector<Hqmm> out;
  for (const Shape& shape : {Shape{1, 3, 1}, Shape{1, 3, 2}, Shape{2, 1, 1}, Shape{3, 4, 2}}) {
    for (const Shape& kind : of_every_kind(shape)) {
      RandomStream random(162, Purpose::kTest, out.size());
      out.push_back(random_hqmm(kind, random));
      out.push_back(random_positional_hqmm(kind, Anchor::kStart, random));
      out.push_back(random_positional_hqmm(kind, Anchor::kEnd, random));
    }
  }
  return out;
}

std::string name_of_case(const Hqmm& model, ModelFormat format) {
  return fmt::format("{} {} n = {}, {} sets, format {}",
                     model.field == Field::kReal ? "real" : "complex",
                     model.emits_on() == EmissionKind::kState ? "state" : "edge",
                     model.latent_dim(), model.sets.size(), static_cast<int>(format));
}

void expect_same_model(const Hqmm& a, const Hqmm& b) {
  EXPECT_EQ(a.field, b.field);
  EXPECT_EQ(a.alphabet, b.alphabet);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.initial_state, b.initial_state);
  ASSERT_EQ(a.sets.size(), b.sets.size());
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    ASSERT_EQ(a.sets[i].emits_on(), b.sets[i].emits_on());
    ASSERT_EQ(a.sets[i].kraus_rank(), b.sets[i].kraus_rank());
    EXPECT_EQ(a.sets[i].stack(), b.sets[i].stack());
    if (a.emits_on() == EmissionKind::kState) {
      EXPECT_EQ(a.sets[i].emission(), b.sets[i].emission());
    }
  }
}

TEST(StructuredFile, EveryFormatKeepsEveryBitOfEveryKind) {
  for (const Hqmm& model : stored_models()) {
    for (const ModelFormat format : kFormats) {
      SCOPED_TRACE(name_of_case(model, format));
      const std::string bytes = serialize_model({model, R"({"seed":7})"}, format);
      EXPECT_EQ(bytes, serialize_model({model, R"({"seed":7})"}, format));
      const ModelFile back = parse_model(bytes, "model");
      expect_same_model(model, std::get<Hqmm>(back.model));
      EXPECT_EQ(bytes, serialize_model(back, format));
    }
  }
}

TEST(StructuredFile, HasTheLowestVersionThatHoldsTheModel) {
  for (const Hqmm& model : stored_models()) {
    const ModelArrays arrays = disassemble({model, {}});
    EXPECT_EQ(arrays.version, is_plain(model) ? 1 : 2);
    EXPECT_EQ(arrays.field.has_value(), !is_plain(model));
    EXPECT_EQ(arrays.arrays.contains("kraus"), model.emits_on() == EmissionKind::kEdge);
    EXPECT_EQ(arrays.arrays.at("initial_state").is_complex, model.field == Field::kComplex);
  }
  RandomStream random(163, Purpose::kTest);
  EXPECT_EQ(disassemble({random_started_hmm(2, 3, random), {}}).version, 1);
}

TEST(StructuredFile, ShapesAreThoseOfTheSpecification) {
  RandomStream random(164, Purpose::kTest);
  const Shape shape{3, 4, 2, Field::kReal, EmissionKind::kState};
  const ModelArrays one = disassemble({random_hqmm(shape, random), {}});
  EXPECT_EQ(one.arrays.at("transition").shape_text(), "(2, 3, 3)");
  EXPECT_EQ(one.arrays.at("emission").shape_text(), "(4, 3)");
  const ModelArrays three =
      disassemble({random_positional_hqmm(shape, Anchor::kStart, random), {}});
  EXPECT_EQ(three.arrays.at("transition").shape_text(), "(3, 2, 3, 3)");
  EXPECT_EQ(three.arrays.at("emission").shape_text(), "(3, 4, 3)");
}

/// The rank of `transition` tells an HQMM from an HMM.
TEST(StructuredFile, IsToldFromAnHmmWithoutItsKind) {
  for (const Hqmm& model : stored_models()) {
    auto json = nlohmann::json::parse(serialize_model({model, {}}, ModelFormat::kJson));
    for (const char* name : {"kind", "version", "format"}) json.erase(name);
    expect_same_model(model, std::get<Hqmm>(parse_model(json.dump(), "model.json").model));
  }
  RandomStream random(165, Purpose::kTest);
  const AnyModel hmm = random_started_hmm(2, 3, random);
  auto json = nlohmann::json::parse(serialize_model({hmm, {}}, ModelFormat::kJson));
  json.erase("kind");
  EXPECT_TRUE(std::holds_alternative<Hmm>(parse_model(json.dump(), "model.json").model));
}

TEST(StructuredFile, AxesThatMatlabDropsComeBack) {
  for (const Hqmm& model : stored_models()) {
    if (model.latent_dim() > 1) continue;
    ModelArrays arrays = disassemble({model, {}});
    for (const char* name : {"kraus", "transition", "emission"}) {
      const auto found = arrays.arrays.find(name);
      if (found == arrays.arrays.end()) continue;
      auto& shape = found->second.shape;
      while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
    }
    SCOPED_TRACE(name_of_case(model, ModelFormat::kMat));
    const std::string bytes = write_mat_arrays(arrays);
    expect_same_model(model, std::get<Hqmm>(parse_model(bytes, "model.mat").model));
  }
}

TEST(StructuredFile, AnInfeasibleModelIsRead) {
  RandomStream random(166, Purpose::kTest);
  for (const Shape& kind : of_every_kind({3, 2, 2})) {
    Hqmm model = random_hqmm(kind, random);
    make_infeasible(model, random);
    const ModelFile back = parse_model(serialize_model({model, {}}, ModelFormat::kHdf5), "model");
    EXPECT_FALSE(is_feasible(back.model));
    EXPECT_EQ(feasibility_residual(back.model), feasibility_residual(model));
  }
}

/// A real model that emits on its states, n = 2, s = 2, w = 1, in JSON.
nlohmann::json small_state_model() {
  const double half = std::sqrt(0.5);
  return {{"format", "hqmm-model"},
          {"version", 2},
          {"kind", "hqmm"},
          {"field", "real"},
          {"transition", {{{half, half}, {half, -half}}}},
          {"emission", {{1.0, half}, {0.0, half}}},
          {"initial_state", {{0.5, 0.0}, {0.0, 0.5}}}};
}

struct BadModel {
  const char* patch;  // RFC 7396: null removes
  const char* says;
};

TEST(StructuredFile, WhatIsWrongIsSaidInOneLine) {
  EXPECT_NO_THROW((void)parse_model(small_state_model().dump(), "m.json"));
  const BadModel cases[] = {
      {R"({"version": 3})", "'version': this hqmm reads versions 1 and 2, the file has version 3"},
      {R"({"version": 0})", "the file has version 0"},
      {R"({"version": 1})", "'field': a real model is of version 2, the file has version 1"},
      {R"({"field": "quaternion"})", "'field': expected real or complex, found 'quaternion'"},
      {R"({"field": 1})", "'field': expected a string"},
      {R"({"version": 1, "field": "complex", "transition": [[[[1, 0]]]], "emission": [[1]],
           "initial_state": [[[1, 0]]]})",
       "'transition': an HQMM that emits on its states is of version 2, the file has version 1"},
      {R"({"field": null})", "'transition': has shape (1, 2), expected (w, n, n)"},
      {R"({"kraus": [[[[1, 0], [0, 1]]], [[[0, 0], [0, 0]]]]})",
       "'transition': cannot be combined with 'kraus': expected one or the other"},
      {R"({"emission": null})", "'emission': missing"},
      {R"({"transition": null})", "'transition': missing"},
      {R"({"transition": null, "emission": null})", "'kraus': missing"},
      {R"({"transition": [[1, 0], [0, 1]]})",
       "'transition': has shape (2, 2), expected (w, n, n) or (sets, w, n, n)"},
      {R"({"transition": [[[1, 0]]]})",
       "'transition': has shape (1, 1, 2): the last two sizes must be equal"},
      {R"({"transition": [[[[[1]]]]]})", "'transition': has shape (1, 1, 1, 1, 1), expected"},
      {R"({"emission": [1, 0]})", "'emission': has shape (2), expected (s, n) or (sets, s, n)"},
      {R"({"emission": [[1, 0, 0]]})", "'emission': has shape (1, 3), expected (s, 2)"},
      {R"({"emission": [[[1, 1]], [[1, 1]]]})", "'emission': has shape (2, 1, 2), expected (s, 2)"},
      {R"({"transition": [[[[1, 0], [0, 1]]], [[[1, 0], [0, 1]]]]})",
       "'emission': has shape (2, 2), expected (2, s, 2)"},
      {R"({"initial_state": [[[0.5, 0], [0, 0]], [[0, 0], [0.5, 0]]]})",
       "'initial_state': has shape (2, 2, 2), expected (n, n)"},
      {R"({"initial_state": [[1]]})", "the initial state is 1×1, expected 2×2"},
      {R"({"alphabet": ["a"]})", "the alphabet has 1 symbols, the Kraus operators are for 2"},
      {R"({"emission": [[1, 1e70], [0, 0]]})", "emission[0,1] is larger than"},
      {R"({"transition": [[[1, 0], [1e70, 1]]]})", "transition[0,1,0] is larger than"},
      {R"({"kind": "hmm"})", "'transition': has shape (1, 2, 2), expected (n, n)"},
  };
  for (const BadModel& one : cases) {
    SCOPED_TRACE(one.patch);
    nlohmann::json json = small_state_model();
    json.merge_patch(nlohmann::json::parse(one.patch));
    expect_error(ErrorCode::kBadData, one.says, [&] { (void)parse_model(json.dump(), "m.json"); });
  }
}

/// Binary formats can store complex numbers in a model that says it has none.
TEST(StructuredFile, ImaginaryPartsInARealModelAreRefused) {
  RandomStream random(167, Purpose::kTest);
  for (const EmissionKind emission : {EmissionKind::kEdge, EmissionKind::kState}) {
    const Hqmm model = random_hqmm({2, 3, 2, Field::kReal, emission}, random);
    const ModelArrays good = disassemble({model, {}});
    const char* operators = emission == EmissionKind::kEdge ? "kraus" : "transition";
    for (const char* name : {operators, "initial_state"}) {
      ModelArrays bad = good;
      bad.arrays[name].is_complex = true;
      expect_same_model(model, std::get<Hqmm>(parse_model(write_hdf5_arrays(bad), "m.h5").model));
      auto& values = bad.arrays[name].values;  // Hermitian all the same
      values[1] += Complex(0.0, 1e-3);
      values[2] -= Complex(0.0, 1e-3);
      for (const std::string& bytes : {write_hdf5_arrays(bad), write_mat_arrays(bad)})
        expect_error(ErrorCode::kBadData, "is not real, but the model's field is",
                     [&] { (void)parse_model(bytes, "m"); });
    }
  }
  ModelArrays bad =
      disassemble({random_hqmm({2, 3, 1, Field::kComplex, EmissionKind::kState}, random), {}});
  bad.arrays["emission"].is_complex = true;
  bad.arrays["emission"].values[0] += Complex(0.0, 1e-3);
  expect_error(ErrorCode::kBadData, "'emission': holds complex numbers, expected real ones",
               [&] { (void)parse_model(write_hdf5_arrays(bad), "m.h5"); });
}

ClassifierFile classifier_of(const std::vector<Shape>& kinds) {
  RandomStream random(168, Purpose::kTest);
  ClassifierFile out;
  for (const Shape& kind : kinds) {
    out.classifier.classes.push_back(fmt::format("c{}", out.classifier.classes.size()));
    out.classifier.models.emplace_back(random_hqmm(kind, random));
    out.classifier.priors.push_back(1.0 / static_cast<double>(kinds.size()));
  }
  return out;
}

TEST(StructuredFile, ClassifiersHoldEveryKind) {
  const ClassifierFile file = classifier_of(of_every_kind({3, 4, 2}));
  const std::string bytes = serialize_classifier(file);
  EXPECT_EQ(bytes, serialize_classifier(file));
  const ClassifierFile back = parse_classifier(bytes, "c.h5");
  for (std::size_t c = 0; c < file.classifier.models.size(); ++c) {
    expect_same_model(std::get<Hqmm>(file.classifier.models[c]),
                      std::get<Hqmm>(back.classifier.models[c]));
  }
  EXPECT_EQ(bytes, serialize_classifier(back));
}

}  // namespace
}  // namespace hqmm::detail::testing
