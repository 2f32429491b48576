#pragma once

#include "hearth/export.h"

#define C10_EXPORT HEARTH_API
#define C10_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_API HEARTH_API
#define TORCH_API HEARTH_API
