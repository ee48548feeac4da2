#include "work.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "hqmm/core/random.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/model/random_models.hpp"

namespace hqmm::bench {
namespace {

std::unique_ptr<Work> make_work(const Shape& shape) {
  auto work = std::make_unique<Work>();
  RandomStream random(1, Purpose::kTest, static_cast<std::uint64_t>(shape.n),
                      static_cast<std::uint64_t>(shape.w));
  KrausSet set = shape.emission == EmissionKind::kEdge
                     ? random_kraus(shape.s, shape.w, shape.n, random, shape.field)
                     : random_state_kraus(shape.s, shape.w, shape.n, random, shape.field);
  if (!shape.feasible) {
    const Index rows = shape.w * shape.n;
    for (Index y = 0; y < shape.s; ++y)
      set.gamma().middleRows(y * rows, rows) *= 0.85 + 0.06 * static_cast<double>(y);
  }
  const Matrix start =
      shape.pure ? random_pure_state(shape.n, random, shape.field) : maximally_mixed(shape.n);
  const auto alphabet = Alphabet::integers(static_cast<std::size_t>(shape.s));
  work->model = stationary_hqmm(alphabet, std::move(set), start, shape.field);
  work->data = SequenceSet(alphabet);
  for (std::size_t i = 0; i < shape.batch; ++i) {
    for (std::size_t t = 0; t < shape.length; ++t) {
      work->data.push_back(static_cast<Symbol>(random.below(alphabet.size())));
    }
    work->data.end_sequence();
  }
  for (std::size_t i = 0; i < shape.batch; ++i) {
    work->batch.push_back(work->data[i]);
    work->plain.push_back(work->data[i].to_vector());
  }
  return work;
}

double distance(const BatchGradient& a, const BatchGradient& b) {
  double error = std::abs(a.raw_log_likelihood - b.raw_log_likelihood) /
                 std::max(1.0, std::abs(b.raw_log_likelihood));
  for (std::size_t i = 0; i < b.sets.size(); ++i) {
    error = std::max(error, (a.sets[i] - b.sets[i]).norm() / b.sets[i].norm());
  }
  for (std::size_t i = 0; i < b.emissions.size(); ++i) {
    error = std::max(error, (a.emissions[i] - b.emissions[i]).norm() / b.emissions[i].norm());
  }
  return error;
}

}  // namespace

std::string name_of(const Shape& shape) {
  const std::string symbols = shape.s == 6 ? "" : fmt::format("/s={}", shape.s);
  return fmt::format("n={}/w={}/B={}{}{}{}{}", shape.n, shape.w, shape.batch, symbols,
                     shape.field == Field::kReal ? "/real" : "",
                     shape.emission == EmissionKind::kState ? "/state" : "",
                     shape.feasible ? "" : "/infeasible");
}

NaiveWork Work::naive() const {
  return {model.alphabet_size(),        model.kraus_rank(),         model.latent_dim(),
          model.sets[0].gamma().data(), model.initial_state.data(), plain};
}

const Work& work_of(const Shape& shape) {
  static std::map<Shape, std::unique_ptr<Work>> made;
  auto& work = made[shape];
  if (!work) work = make_work(shape);
  return *work;
}

BatchGradient gradient_of(const Work& work, EngineKind engine, int threads) {
  GradientOptions options;
  options.engine = engine;
  static GradientScratch scratch;  // as a learner keeps it
  return gradient(work.model, work.batch, options, threads, scratch);
}

std::string disagreement(const Shape& shape, EngineKind engine) {
  if (std::getenv("HQMM_BENCH_UNCHECKED") != nullptr) return {};
  static std::map<std::pair<Shape, EngineKind>, std::string> known;
  const auto [found, is_new] = known.try_emplace({shape, engine});
  if (!is_new) return found->second;
  const Work& work = work_of(shape);
  // About a second of the naive engine at most.
  const double per_symbol = 20.0 * static_cast<double>(shape.w * shape.n * shape.n * shape.n);
  const double room = 2e9 / per_symbol / static_cast<double>(shape.batch);
  const auto length =
      static_cast<std::size_t>(std::clamp(room, 3.0, static_cast<double>(shape.length)));
  std::vector<SequenceView> batch;
  for (const SequenceView& sequence : work.batch) batch.push_back(sequence.part(0, length));
  GradientOptions options;
  options.engine = EngineKind::kNaive;
  const BatchGradient naive = gradient(work.model, batch, options, 1);
  try {
    options.engine = engine;
    const double error = distance(gradient(work.model, batch, options, 1), naive);
    if (!(error <= 1e-9)) {
      found->second = fmt::format("differs from the naive engine by {:.1e}", error);
    }
  } catch (const std::exception& error) {
    found->second = error.what();
  }
  return found->second;
}

std::string chosen_form(const Work& work) {
  const Choice choice =
      choose(shape_of(work.model, work.batch, is_feasible(work.model)), EngineKind::kAuto);
  const std::string name(name_of(choice.engine));
  return choice.word_length > 1 ? fmt::format("{}, {}-grams", name, choice.word_length) : name;
}

const EmWork& em_work(Index n, std::size_t s) {
  static std::map<std::pair<Index, std::size_t>, std::unique_ptr<EmWork>> made;
  auto& work = made[{n, s}];
  if (!work) {
    RandomStream random(1, Purpose::kTest, static_cast<std::uint64_t>(n), s);
    const Hmm source = random_hmm(Alphabet::integers(s), n, random);
    work = std::make_unique<EmWork>();
    work->start = random_hmm(Alphabet::integers(s), n, random);
    work->data = sample(source, {.count = 200, .length = 300, .threads = 1});
  }
  return *work;
}

void count(benchmark::State& state, const Shape& shape) {
  const double symbols = static_cast<double>(shape.batch) * static_cast<double>(shape.length);
  state.counters["symbols"] = symbols;
  state.counters["sym/s"] =
      benchmark::Counter(symbols, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace hqmm::bench
