// Classify: one model per class.
#pragma once

#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/scan.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/model/classifier.hpp"
