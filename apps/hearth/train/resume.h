#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "processes.h"
#include "run_folder.h"

namespace hearth::app {

/// Opens the folder of `--resume` and takes its settings for the command; `path` may be empty: the
/// latest run.
RunFolder resume(CLI::App& train, const std::string& path, const Processes& processes);

/// The name that the launcher gives to all starts of the same processes; empty if there is none.
std::string name_of_job();
/// Whether a launcher starts the processes again after a failure, or when machines join.
bool may_start_again();
/// If a launcher has started the processes again, and the folder `out` has the run of their job,
/// opens it and takes its settings, which must be those of the command (`options`). Throws if the
/// processes may be started again, but no folder is given (`out` is "").
std::optional<RunFolder> resume_after_restart(CLI::App& train, const TrainOptions& options,
                                              const std::string& out, const Processes& processes);

}  // namespace hearth::app
