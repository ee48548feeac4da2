// Model files: every format keeps every bit, and the same model gives the same bytes.
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/model_bytes.hpp"

#include <fmt/core.h>

#include <gtest/gtest.h>

#include "hqmm/io/atomic_file.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

const char* const kExtensions[] = {"h5", "json", "mat"};

Hqmm random_hqmm(Index s, Index w, Index n, std::size_t sets) {
  RandomStream random(5, Purpose::kTest);
  Hqmm model;
  model.alphabet = Alphabet::integers(static_cast<std::size_t>(s));
  for (std::size_t i = 0; i < sets; ++i) model.sets.push_back(random_kraus(s, w, n, random));
  model.initial_state = random_density_matrix(n, random);
  return model;
}

void expect_same(const Hqmm& a, const Hqmm& b) {
  EXPECT_EQ(a.alphabet, b.alphabet);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.initial_state, b.initial_state);
  ASSERT_EQ(a.sets.size(), b.sets.size());
  for (std::size_t i = 0; i < a.sets.size(); ++i) EXPECT_EQ(a.sets[i].gamma(), b.sets[i].gamma());
}

ModelFile through(const ModelFile& file, const std::string& extension) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hqmm-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = (folder / ("model." + extension)).string();
  write_model(path, file);
  ModelFile back = read_model(path);
  std::filesystem::remove_all(folder);
  return back;
}

TEST(ModelFile, EveryFormatKeepsEveryBitOfAStationaryModel) {
  for (const Index n : {1, 2, 5}) {
    for (const char* extension : kExtensions) {
      SCOPED_TRACE(fmt::format("n = {}, .{}", n, extension));
      const ModelFile file{random_hqmm(3, 2, n, 1), R"({"seed":7})"};
      const ModelFile back = through(file, extension);
      expect_same(std::get<Hqmm>(file.model), std::get<Hqmm>(back.model));
      EXPECT_EQ(file.provenance, back.provenance);
    }
  }
}

TEST(ModelFile, EveryFormatKeepsThePositionMapAndItsAnchor) {
  for (const char* extension : kExtensions) {
    for (const auto anchor : {PositionMap::Anchor::kStart, PositionMap::Anchor::kEnd}) {
      SCOPED_TRACE(extension);
      Hqmm model = random_hqmm(2, 1, 2, 3);
      model.positions = PositionMap({0, 0, 1, 2, 1}, anchor);
      expect_same(model, std::get<Hqmm>(through({model, {}}, extension).model));
    }
  }
}

TEST(ModelFile, EveryFormatKeepsTokensAndHmms) {
  RandomStream random(3, Purpose::kTest);
  const Hmm hmm = random_hmm(Alphabet::tokens({"exon", "intron", "é"}), 4, random);
  for (const char* extension : kExtensions) {
    SCOPED_TRACE(extension);
    const Hmm back = std::get<Hmm>(through({hmm, {}}, extension).model);
    EXPECT_EQ(back.transition, hmm.transition);
    EXPECT_EQ(back.emission, hmm.emission);
    EXPECT_EQ(back.initial, hmm.initial);
    if (std::string_view(extension) != "mat") {  // MATLAB text is UTF-16: other letters become '?'
      EXPECT_EQ(back.alphabet, hmm.alphabet);
    }
  }
}

TEST(ModelFile, EveryFormatKeepsEdges) {
  for (const Index n : {1, 2, 4}) {
    RandomStream random(4, Purpose::kTest);
    const EdgeHmm hmm = random_edge_hmm(Alphabet::integers(3), n, random);
    for (const char* extension : kExtensions) {
      SCOPED_TRACE(fmt::format("n = {}, .{}", n, extension));
      const EdgeHmm back = std::get<EdgeHmm>(through({hmm, {}}, extension).model);
      ASSERT_EQ(back.edges.size(), hmm.edges.size());
      for (std::size_t y = 0; y < hmm.edges.size(); ++y) EXPECT_EQ(back.edges[y], hmm.edges[y]);
      EXPECT_EQ(back.initial, hmm.initial);
    }
  }
}

TEST(ModelFile, TheSameModelGivesTheSameBytes) {
  const ModelFile file{random_hqmm(3, 2, 2, 1), R"({"seed":7})"};
  for (const auto format : {ModelFormat::kHdf5, ModelFormat::kJson, ModelFormat::kMat}) {
    EXPECT_EQ(serialize_model(file, format), serialize_model(file, format));
  }
}

TEST(ModelFile, AFileCalledImageInTheCurrentFolderIsNoObstacle) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("hqmm-cwd-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  write_file("image", "in the way");
  const ModelFile file{random_hqmm(2, 1, 2, 1), {}};
  write_model("model.h5", file);
  expect_same(std::get<Hqmm>(file.model), std::get<Hqmm>(read_model("model.h5").model));
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(ModelFile, HostileFilesAreBadData) {
  for (const auto& entry : std::filesystem::directory_iterator(testing::corpus("hostile"))) {
    SCOPED_TRACE(entry.path().filename().string());
    testing::expect_error(ErrorCode::kBadData, "",
                          [&] { (void)read_model(entry.path().string()); });
  }
}

TEST(ModelFile, ATokenThatIsNoUtf8IsKeptOrRefused) {
  Hqmm model = random_hqmm(2, 1, 2, 1);
  model.alphabet = Alphabet::tokens({"caf\xE9", "b"});
  expect_same(model, std::get<Hqmm>(through({model, {}}, "h5").model));
  testing::expect_error(ErrorCode::kBadData, "the token 'caf\\xe9' is not UTF-8", [&] {
    (void)serialize_model({model, {}}, ModelFormat::kJson);
  });
}

}  // namespace
}  // namespace hqmm::detail
