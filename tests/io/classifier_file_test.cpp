// Classifier files: every bit comes back, whatever the classes are called, and damage is named.
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/classifier_bytes.hpp"

#include <gtest/gtest.h>

#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

/// An HMM, a stationary HQMM, a position-dependent one anchored at the end.
ClassifierFile odd_classifier() {
  RandomStream random(2, Purpose::kTest);
  ClassifierFile out;
  out.classifier.classes = {"", "a b/c\n\"'|", "\xff not utf-8", "é"};
  std::sort(out.classifier.classes.begin(), out.classifier.classes.end());
  out.classifier.models.emplace_back(random_hmm(Alphabet::dna(), 3, random));
  out.classifier.models.emplace_back(
      stationary_hqmm(Alphabet::dna(), random_kraus(4, 2, 2, random), maximally_mixed(2)));
  Hqmm positional =
      stationary_hqmm(Alphabet::dna(), random_kraus(4, 1, 3, random), maximally_mixed(3));
  positional.sets.push_back(random_kraus(4, 1, 3, random));
  positional.positions = PositionMap({0, 1, 1, 0}, PositionMap::Anchor::kEnd);
  out.classifier.models.emplace_back(positional);
  out.classifier.models.emplace_back(positional);
  out.classifier.priors = {0.1, 0.2, 0.3, 0.4};
  out.provenance = R"({"seed":7})";
  return out;
}

TEST(ClassifierFile, EveryBitComesBack) {
  const TemporaryFolder folder;
  const ClassifierFile file = odd_classifier();
  write_classifier(folder.file("c.h5"), file);
  const ClassifierFile back = read_classifier(folder.file("c.h5"));
  EXPECT_EQ(back.classifier.classes, file.classifier.classes);
  EXPECT_EQ(back.classifier.priors, file.classifier.priors);
  EXPECT_EQ(back.provenance, file.provenance);
  for (std::size_t c = 0; c < file.classifier.models.size(); ++c) {
    EXPECT_EQ(serialize_model({file.classifier.models[c], {}}, ModelFormat::kHdf5),
              serialize_model({back.classifier.models[c], {}}, ModelFormat::kHdf5));
  }
  EXPECT_EQ(serialize_classifier(file), serialize_classifier(back));
}

TEST(ClassifierFile, IsReadFromMemoryToo) {
  const ClassifierFile file = odd_classifier();
  const std::string bytes = serialize_classifier(file);
  EXPECT_EQ(serialize_classifier(parse_classifier(bytes, "memory")), bytes);
  expect_error(ErrorCode::kBadData, "memory", [&] {
    static_cast<void>(parse_classifier(bytes.substr(0, bytes.size() / 2), "memory"));
  });
  const std::string model = serialize_model({file.classifier.models[0], {}}, ModelFormat::kHdf5);
  EXPECT_EQ(serialize_model(parse_model(model, "memory"), ModelFormat::kHdf5), model);
  expect_error(ErrorCode::kBadData, "memory",
               [] { static_cast<void>(parse_model("not a model", "memory")); });
}

TEST(ClassifierFile, IsToldFromAModel) {
  const TemporaryFolder folder;
  const ClassifierFile file = odd_classifier();
  write_classifier(folder.file("c.h5"), file);
  write_model(folder.file("m.h5"), {file.classifier.models[1], {}});
  EXPECT_TRUE(is_classifier_file(folder.file("c.h5")));
  EXPECT_FALSE(is_classifier_file(folder.file("m.h5")));
  EXPECT_FALSE(is_classifier_file(folder.write("t.txt", "0 1 0\n")));
  expect_error(ErrorCode::kBadData, "is a classifier, one model per class",
               [&] { (void)read_model(folder.file("c.h5")); });
  expect_error(ErrorCode::kBadData, "expected a classifier, found a model of kind 'hqmm'",
               [&] { (void)read_classifier(folder.file("m.h5")); });
}

TEST(ClassifierFile, ANameWithANulIsRefused) {
  ClassifierFile file = odd_classifier();
  file.classifier.classes[0] = std::string("\0x", 2);
  expect_error(ErrorCode::kBadData, "NUL", [&] { (void)serialize_classifier(file); });
}

TEST(ClassifierFile, DamageIsOneLine) {
  const TemporaryFolder folder;
  const std::string bytes = serialize_classifier(odd_classifier());
  expect_error(ErrorCode::kBadData, "empty",
               [&] { (void)read_classifier(folder.write("e.h5", "")); });
  expect_error(ErrorCode::kBadData, "not a classifier file",
               [&] { (void)read_classifier(folder.write("x.h5", "hello")); });
  for (const std::size_t keep : {std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string path = folder.write("cut.h5", std::string_view(bytes).substr(0, keep));
    expect_error(ErrorCode::kBadData, "cut.h5", [&] { (void)read_classifier(path); });
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
