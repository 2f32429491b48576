#pragma once

#include "data_sets.h"
#include "options.h"
#include "run_folder.h"

namespace hearth::app {

/// Trains all unfinished runs of the grid and updates the folder's files; returns false if a
/// signal stopped it.
bool train(const TrainOptions& options, const DataSets& data, const RunFolder& folder);

}  // namespace hearth::app
