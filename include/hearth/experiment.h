#pragma once

// Grids of runs and their results, as in deep-learning courses with PyTorch.
#include "hearth/experiment/results.h"
#include "hearth/experiment/run.h"
#include "hearth/experiment/run_builder.h"
#include "hearth/experiment/run_manager.h"
