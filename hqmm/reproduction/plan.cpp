#include "hqmm/reproduction/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail::reproduction {
namespace {

struct Shape {
  Index n, w;
};

/// Adds a cell per seed.
class Builder {
 public:
  Builder(Study study, std::uint64_t first_seed, std::size_t seeds)
      : study_(study), first_seed_(first_seed), seeds_(seeds) {}

  Builder& add(Method method, Shape shape) {
    Cell cell;
    cell.method = method;
    cell.latent_dim = shape.n;
    cell.kraus_rank = shape.w;
    return add(cell);
  }
  Builder& add(Cell cell) {
    cell.study = study_;
    for (std::size_t k = 0; k < seeds_; ++k) {
      cell.seed = first_seed_ + k;
      cells_.push_back(cell);
    }
    return *this;
  }
  [[nodiscard]] std::vector<Cell> sorted() {
    std::stable_sort(cells_.begin(), cells_.end(),
                     [](const Cell& a, const Cell& b) { return rough_cost(a) > rough_cost(b); });
    return std::move(cells_);
  }

 private:
  Study study_;
  std::uint64_t first_seed_;
  std::size_t seeds_;
  std::vector<Cell> cells_;
};

void add_paper_protocol(Builder& out, Shape shape) {
  for (const Method method : {Method::kNsRisLiteral, Method::kNsRisPaper, Method::kCosm})
    out.add(method, shape);
}

/// The paper's protocol with steps that settle: how much depends on their size.
void add_small_steps(Builder& out, Shape shape) {
  for (const Method method : {Method::kNsRisLiteralSmall, Method::kNsRisPaperSmall})
    out.add(method, shape);
}

/// The literal retraction with other numbers T of Newton–Schulz steps.
void add_step_counts(Builder& out, Shape shape, std::span<const int> counts) {
  for (const int steps : counts) {
    Cell cell;
    cell.method = Method::kNsRisLiteralSmall;
    cell.latent_dim = shape.n;
    cell.kraus_rank = shape.w;
    cell.ns_steps = steps;
    out.add(cell);
  }
}

/// The paper's grid: n = 2..6 at w = 1 and w = 1..6 at n = 6. Our recipe also at w = 2 and 4 for
/// every n, where it is meant to be used.
void add_hmm_grid(Builder& out) {
  for (Index n = 2; n <= 6; ++n) {
    add_paper_protocol(out, {n, 1});
    out.add(Method::kGivens, {n, 1}).add(Method::kEm, {n, 0}).add(Method::kNsRisWarm, {n, n});
    for (const Index w : {1, 2, 4}) out.add(Method::kNsRis, {n, w});
    if (n != 4) add_small_steps(out, {n, 1});  // there the paper's protocol has them already
  }
  for (Index w = 2; w <= 6; ++w) {
    add_paper_protocol(out, {6, w});
    add_small_steps(out, {6, w});
  }
  for (const Index w : {3, 5, 6}) out.add(Method::kNsRis, {6, w});
  const int counts[] = {3, 4, 6, 7, 8};
  add_step_counts(out, {6, 2}, counts);
}

void add_quick_hmm_grid(Builder& out) {
  for (const Index n : {2, 3}) {
    add_paper_protocol(out, {n, 1});
    out.add(Method::kGivens, {n, 1}).add(Method::kEm, {n, 0}).add(Method::kNsRisWarm, {n, n});
    for (const Index w : {1, 2}) out.add(Method::kNsRis, {n, w});
  }
  out.add(Method::kNsRisLiteral, {6, 1})
      .add(Method::kNsRisPaper, {6, 1})
      .add(Method::kCosm, {6, 1});
}

void add_hqmm_grid(Builder& out, bool quick) {
  add_paper_protocol(out, {2, 1});
  out.add(Method::kGivens, {2, 1}).add(Method::kNsRis, {2, 1}).add(Method::kNsRisWarm, {2, 2});
  if (!quick) add_small_steps(out, {2, 1});
  for (Index n = 2; n <= (quick ? 2 : 6); ++n) out.add(Method::kEm, {n, 0});
}

void add_splice_grid(Builder& out, bool quick) {
  for (const bool clean : {false, true}) {
    for (const Index n : {2, 4, 6, 8}) {
      if (quick && n > 2) break;
      Cell cell;
      cell.clean = clean;
      cell.latent_dim = n;
      cell.kraus_rank = 0;
      cell.method = Method::kEm;
      out.add(cell);
      for (const Index w : {1, 2, 4, 6}) {
        if (quick && w > 1) break;
        cell.kraus_rank = w;
        for (const Method method :
             {Method::kNsRisLiteral, Method::kNsRisPaper, Method::kNsRis, Method::kCosm}) {
          cell.method = method;
          out.add(cell);
        }
      }
    }
  }
}

}  // namespace

std::string_view name_of(Study study) {
  switch (study) {
    case Study::kSyntheticHmm:
      return "synthetic-hmm";
    case Study::kSyntheticHqmm:
      return "synthetic-hqmm";
    case Study::kSplice:
      break;
  }
  return "splice";
}

Study parse_study(std::string_view text) {
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm, Study::kSplice})
    if (name_of(study) == text) return study;
  throw fail(ErrorCode::kBadData, "there is no study '{}'", printable(text));
}

std::string name_of(const Cell& cell) {
  std::string out =
      fmt::format("{}_{}_n{}", name_of(cell.study), name_of(cell.method), cell.latent_dim);
  if (cell.kraus_rank > 0) out += fmt::format("_w{}", cell.kraus_rank);
  if (cell.ns_steps != 5) out += fmt::format("_T{}", cell.ns_steps);
  if (cell.study == Study::kSplice) out += cell.clean ? "_clean" : "_peers";
  return out + fmt::format("_seed{}", cell.seed);
}

std::string describe(const Cell& cell) {
  std::string out =
      fmt::format("{}, {}, n = {}", name_of(cell.study), name_of(cell.method), cell.latent_dim);
  if (cell.kraus_rank > 0) out += fmt::format(", w = {}", cell.kraus_rank);
  if (cell.ns_steps != 5) out += fmt::format(", T = {}", cell.ns_steps);
  if (cell.study == Study::kSplice) out += cell.clean ? ", clean" : ", peers' protocol";
  return out + fmt::format(", seed {}", cell.seed);
}

std::vector<Cell> make_plan(const PlanOptions& options) {
  std::vector<Cell> out;
  const std::size_t seeds = options.quick ? 1 : options.seeds;
  for (const Study study : options.studies) {
    Builder builder(study, options.first_seed, seeds);
    if (study == Study::kSplice) {
      add_splice_grid(builder, options.quick);
    } else if (study == Study::kSyntheticHqmm) {
      add_hqmm_grid(builder, options.quick);
    } else if (options.quick) {
      add_quick_hmm_grid(builder);
    } else {
      add_hmm_grid(builder);
    }
    for (const Cell& cell : builder.sorted()) out.push_back(cell);
  }
  return out;
}

double rough_cost(const Cell& cell) {
  const auto n = static_cast<double>(cell.latent_dim);
  const auto w = static_cast<double>(cell.kraus_rank);
  const double steps = 0.1 + 0.015 * n * n * (1.0 + 0.1 * w);  // of a descent
  if (cell.study == Study::kSplice) {
    if (cell.method == Method::kEm) return 1.2 * n;
    return (is_literal(cell.method) ? 10.0 : 7.0) * steps * n / 6.0;
  }
  const MethodTraits& method = traits_of(cell.method);
  if (method.learner == LearnerKind::kGivens) return 0.08 * n * n;
  if (method.learner == LearnerKind::kEm || method.warm_start) return 0.3 * n;
  if (is_literal(cell.method)) return 3.0 * steps;
  const bool small_batches =
      method.learner == LearnerKind::kNsRis && method.protocol != Protocol::kOurs;
  return small_batches ? 2.0 * steps : steps;
}

}  // namespace hqmm::detail::reproduction
