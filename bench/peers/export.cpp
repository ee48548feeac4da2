// Writes the work that peers repeat, with our answers, as JSON: models, sequences, loss and
// gradient of the chosen engine; a Baum–Welch start, its data and what one iteration makes of it.
// usage: hqmm_bench_export FOLDER
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "../work.hpp"
#include "hqmm/learn/baum_welch.hpp"

namespace hqmm::bench {
namespace {

using Json = nlohmann::json;

template <typename M>
Json rows_of(const M& matrix) {
  Json out = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    out.push_back(std::move(row));
  }
  return out;
}

Json complex_rows(const Stack& matrix) {
  return {{"re", rows_of(matrix.real())}, {"im", rows_of(matrix.imag())}};
}

Json sequences_of(const SequenceSet& data) {
  Json out = Json::array();
  for (std::size_t i = 0; i < data.size(); ++i) out.push_back(data[i].to_vector());
  return out;
}

Json answer_of(const Shape& shape) {
  const BatchGradient result = gradient_of(work_of(shape), EngineKind::kAuto);
  return {{"loss", -result.raw_log_likelihood}, {"gradient", complex_rows(result.sets[0])}};
}

/// gradient_n6_w4_B20.json and the like
Json gradient_work(const Shape& shape) {
  const Work& work = work_of(shape);
  return {{"n", shape.n},
          {"w", shape.w},
          {"s", shape.s},
          {"gamma", complex_rows(work.model.sets[0].gamma())},
          {"initial", complex_rows(work.model.initial_state)},
          {"sequences", sequences_of(work.data)},
          {"answer", answer_of(shape)}};
}

Json parameters_of(const Hmm& model) {
  return {{"transition", rows_of(model.transition)},
          {"emission", rows_of(model.emission)},
          {"initial", std::vector<double>(model.initial.begin(), model.initial.end())}};
}

Json em_file(Index n, std::size_t s) {
  const EmWork& work = em_work(n, s);
  TrainOptions options = default_options(LearnerKind::kEm);
  options.latent_dim = n;
  options.threads = 1;
  BaumWelch learner(work.start, work.data, options);
  const EpochOutcome outcome = learner.run_epoch(0, [] { return false; });
  return {{"start", parameters_of(work.start)},
          {"sequences", sequences_of(work.data)},
          {"log_likelihood", outcome.log_likelihood},
          {"after", parameters_of(std::get<Hmm>(learner.candidate()))}};
}

void write(const std::string& folder, const std::string& name, const Json& content) {
  std::ofstream file(fmt::format("{}/{}.json", folder, name));
  file << content;
  if (!file.flush()) throw fail(ErrorCode::kCannotWrite, "cannot write {}/{}.json", folder, name);
}

void export_all(const std::string& folder) {
  for (const auto& [n, w] : {std::pair<Index, Index>{2, 1}, {6, 1}, {6, 4}, {8, 4}}) {
    for (const std::size_t batch : {1, 20}) {
      const Shape shape{.n = n, .w = w, .batch = batch};
      write(folder, fmt::format("gradient_n{}_w{}_B{}", n, w, batch), gradient_work(shape));
    }
  }
  for (const auto& [n, s] : {std::pair<Index, std::size_t>{6, 6}, {32, 20}}) {
    write(folder, fmt::format("em_n{}_s{}", n, s), em_file(n, s));
  }
}

}  // namespace
}  // namespace hqmm::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: hqmm_bench_export FOLDER\n", stderr);
    return 2;
  }
  try {
    hqmm::bench::export_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hqmm_bench_export: %s\n", error.what());
    return 1;
  }
}
