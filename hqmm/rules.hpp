// Rules: a step on the Stiefel manifold, for learners of your own.
#pragma once

#include "hqmm/learn/update_rule.hpp"
