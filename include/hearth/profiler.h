#pragma once

// Where the time goes: profiles of operators, named ranges, the waits of training steps.
#include "hearth/profiler/events.h"
#include "hearth/profiler/profile.h"
#include "hearth/profiler/record_function.h"
#include "hearth/profiler/step_clock.h"
