// The scratch of a pass, which ScratchPool keeps from one batch to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/engine/chain/chain_layout.hpp"
#include "hqmm/engine/chain/form.hpp"

namespace hqmm::detail {

struct ChainScratch {
  struct Checkpoint {
    std::vector<double> states;
    std::vector<std::int64_t> exponents;
  };

  ChainLayout layout;
  AlignedDoubles states;         // of a segment, by slot
  AlignedDoubles adjoints;       // of a block, by slot
  AlignedDoubles carry;          // of each sequence: the state at the end of the segment,
  AlignedDoubles last;           // the state after its last symbol,
  AlignedDoubles adjoint_carry;  // and the adjoint at the start of the block
  std::vector<double> powers;  // [rescaling of the segment][sequence]: what the state was scaled by
  std::vector<std::int64_t> exponents;  // of two, taken out of each sequence's state so far
  std::vector<Checkpoint> checkpoints;  // [segment]
  std::vector<double> weights;          // [sequence]: of its state one step ago, when watched
  std::vector<double*> next;            // [sequence of a group]: where its next state goes
  std::vector<char> events;             // [step]: a sequence has a mark before it, or ends there
  // Of forms whose operators share groups, [sequence of a group]:
  std::vector<std::uint32_t> ops;
  std::vector<const double*> images;
  std::vector<double> scales;
  FormScratch form;
  // Of a TwoWayPass:
  std::vector<std::uint32_t> places;              // see TwoWaySteps
  std::vector<std::uint32_t> uses;                // [operator], zero between sequences
  std::vector<Group> met;                         // operators of the sequence and their places
  std::vector<int> up_exponents, down_exponents;  // [rescaling]: of two, taken out until then
};

}  // namespace hqmm::detail
