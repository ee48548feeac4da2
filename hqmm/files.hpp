// Files: sequences in every format, models and classifiers.
#pragma once

#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequence_stream.hpp"
#include "hqmm/io/sequences.hpp"
