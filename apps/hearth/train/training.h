#pragma once

#include "images.h"
#include "options.h"
#include "run_folder.h"

namespace hearth::app {

/// Trains what is left of all runs of the grid, and keeps the folder's files up to date; false if a
/// signal stopped it.
bool train(const TrainOptions& options, const ImageSets& images, const RunFolder& folder);

}  // namespace hearth::app
