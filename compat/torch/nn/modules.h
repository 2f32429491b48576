#pragma once

#include "hearth/nn.h"
#include "torch/arg.h"
#include "torch/nn/pimpl.h"
#include "torch/types.h"
