// Rules: a step on the Stiefel manifold, for your own learners.
#pragma once

#include "hqmm/learn/update_rule.hpp"
