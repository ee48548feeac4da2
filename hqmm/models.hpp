// Models: hidden quantum and hidden Markov models, samples from them, what their channels do.
#pragma once

#include "hqmm/model/any_model.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/model/zoo.hpp"
