#pragma once

#include "data_sets.h"
#include "options.h"
#include "run_folder.h"

namespace hearth::app {

class Processes;

/// Trains all unfinished runs of the grid; the first process updates the folder's files. Returns
/// false if a signal stopped it.
bool train(const TrainOptions& options, const DataSets& data, const RunFolder& folder,
           const Processes& processes);

}  // namespace hearth::app
