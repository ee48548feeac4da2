// Predict: the next symbol, and hidden states.
#pragma once

#include "hqmm/model/filter.hpp"
#include "hqmm/model/retrodiction.hpp"
#include "hqmm/model/viterbi.hpp"
