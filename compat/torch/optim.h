#pragma once

#include "hearth/optim/optim.h"
#include "torch/arg.h"
#include "torch/optim/serialize.h"
#include "torch/types.h"
