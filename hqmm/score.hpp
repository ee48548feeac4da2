// Score: how well a model describes data.
#pragma once

#include "hqmm/model/likelihood.hpp"
#include "hqmm/score/score.hpp"
#include "hqmm/score/surprise.hpp"
