#pragma once

#include "hearth/nn/arg.h"

#define TORCH_ARG(T, name) HEARTH_ARG(T, name)
