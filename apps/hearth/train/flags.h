#pragma once

#include "options.h"

namespace CLI {
class App;
}

namespace hearth::app {

/// Adds the flags of all settings to a command.
void add_settings(CLI::App& train, TrainOptions& options);

/// Throws if the settings of the scheduler do not fit it or the optimizer.
void check_scheduler(const TrainOptions& options);
/// Throws if two runs of the grid would be the same.
void check_all_different(const TrainOptions& options);

}  // namespace hearth::app
