#include "hqmm/run/selection_packing.hpp"

#include "hqmm/core/packing.hpp"
#include "hqmm/model/model_packing.hpp"
#include "hqmm/score/score_packing.hpp"

namespace hqmm::detail {
namespace {

void pack(const RestartSummary& one, Packer& out) {
  out.number(one.restart).number(one.status).number(one.epochs_run).number(one.best_epoch);
  out.number(one.best_validation).text(one.message);
}

RestartSummary unpack_summary(Unpacker& in) {
  RestartSummary out;
  out.restart = in.number<std::size_t>();
  out.status = in.number<TrainStatus>();
  out.epochs_run = in.number<std::size_t>();
  out.best_epoch = in.number<std::size_t>();
  out.best_validation = in.number<double>();
  out.message = in.text();
  return out;
}

void pack(const TrainResult& result, Packer& out) {
  pack(result.model, out);
  out.number(result.status).text(result.message).number(result.epochs_run);
  out.number(result.best_epoch).number(result.best_restart).number(result.seconds);
  out.number(std::uint64_t{result.restarts.size()});
  for (const RestartSummary& one : result.restarts) pack(one, out);
}

TrainResult unpack_result(Unpacker& in) {
  TrainResult out;
  out.model = unpack_model(in);
  out.status = in.number<TrainStatus>();
  out.message = in.text();
  out.epochs_run = in.number<std::size_t>();
  out.best_epoch = in.number<std::size_t>();
  out.best_restart = in.number<std::size_t>();
  out.seconds = in.number<double>();
  out.restarts.resize(in.number<std::uint64_t>());
  for (RestartSummary& one : out.restarts) one = unpack_summary(in);
  return out;
}

}  // namespace

std::string pack_trained(const Candidate& candidate, std::span<const EpochRecord> history) {
  Packer out;
  pack(candidate.found.trained, out);
  pack(candidate.found.scores.validation, out);
  out.text(candidate.found.provenance).number(candidate.bits).number(candidate.seconds);
  out.number(candidate.done).numbers(history);
  return out.take();
}

std::vector<EpochRecord> unpack_trained(std::string_view bytes, Candidate& candidate) {
  Unpacker in(bytes);
  candidate.found.trained = unpack_result(in);
  candidate.found.scores.validation = unpack_score(in);
  candidate.found.provenance = in.text();
  candidate.bits = in.number<double>();
  candidate.seconds = in.number<double>();
  candidate.done = in.number<bool>();
  return in.numbers<EpochRecord>();
}

}  // namespace hqmm::detail
