// The public face of the library, in one include. Names are in namespace hqmm; everything in
// hqmm::detail may change from one version to the next.
#pragma once

#include "hqmm/classify.hpp"
#include "hqmm/data.hpp"
#include "hqmm/errors.hpp"
#include "hqmm/files.hpp"
#include "hqmm/models.hpp"
#include "hqmm/predict.hpp"
#include "hqmm/rules.hpp"
#include "hqmm/score.hpp"
#include "hqmm/train.hpp"
#include "hqmm/version.hpp"
