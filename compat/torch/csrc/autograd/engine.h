#pragma once

#include "hearth/autograd/engine.h"
#include "torch/csrc/autograd/anomaly_mode.h"
#include "torch/csrc/autograd/function.h"
