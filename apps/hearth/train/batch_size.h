#pragma once

#include <string>

#include "data_sets.h"
#include "options.h"

namespace hearth::app {

/// Replaces kAutoBatchSize among the batch sizes by the largest power of two whose training step
/// fits into the memory of every device, at most a tenth of the training examples. Returns a line
/// with the chosen size, empty if none was to be chosen. Throws if not even one example fits.
std::string choose_batch_sizes(TrainOptions& options, const DataSets& data);

}  // namespace hearth::app
