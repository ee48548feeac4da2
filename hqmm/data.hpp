// Data: alphabets, sets of sequences, splits.
#pragma once

#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/data/position_plan.hpp"
#include "hqmm/data/sequence_set.hpp"
