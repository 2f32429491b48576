#pragma once

#include "torch/csrc/autograd/autograd.h"
#include "torch/csrc/autograd/grad_mode.h"
