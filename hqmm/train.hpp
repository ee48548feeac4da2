// Train: learn a model from sequences.
#pragma once

#include "hqmm/learn/trainer.hpp"
