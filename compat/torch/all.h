#pragma once

#include "torch/autograd.h"
#include "torch/cuda.h"
#include "torch/nn.h"
#include "torch/types.h"
#include "torch/utils.h"
#include "torch/version.h"
