// Errors: what went wrong, with which option, and where in which input.
#pragma once

#include "hqmm/core/error.hpp"
