#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hearth/device.h"

namespace hearth::app {

// The commands that read the output of `hearth train`.

/// Adds `hearth eval`: accuracy, loss and confusion matrix on the test set.
void add_eval(CLI::App& app);
/// Adds `hearth predict`: the classes of images.
void add_predict(CLI::App& app);
/// Adds `hearth compare`: the results of several folders in one table and picture.
void add_compare(CLI::App& app);
/// Adds `hearth export`: writes a run's weights to a file.
void add_export(CLI::App& app);

/// Adds the positional argument of a command: a folder of `hearth train` or a checkpoint.
CLI::Option* add_run(CLI::App& command, std::string& run);
/// Adds --device to a command.
void add_device(CLI::App& command, std::string& device);
/// The device of --device, by default a GPU if there is one; throws if the named device does not
/// exist.
Device device_of(const std::string& name);

}  // namespace hearth::app
