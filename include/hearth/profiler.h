#pragma once

// Profiles of operators, named ranges, ranges for NVTX, the times that training steps wait, and
// reports for `hearth top`.
#include "hearth/profiler/events.h"
#include "hearth/profiler/nvtx.h"
#include "hearth/profiler/profile.h"
#include "hearth/profiler/record_function.h"
#include "hearth/profiler/status_report.h"
#include "hearth/profiler/step_clock.h"
