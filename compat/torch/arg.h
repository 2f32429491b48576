#pragma once

#include "hearth/arg.h"

#define TORCH_ARG HEARTH_ARG
