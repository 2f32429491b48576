#pragma once

#include "c10/namespaces.h"
#include "hearth/profiler/record_function.h"

/// Names the rest of the enclosing block in profiles. The inputs are not recorded.
#define RECORD_FUNCTION(name, inputs, ...) \
  const ::hearth::profiler::record_function hearth_record_function_(name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION(name, {})
