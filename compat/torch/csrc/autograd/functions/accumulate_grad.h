#pragma once

#include "hearth/autograd/accumulate_grad.h"
#include "torch/csrc/autograd/function.h"
