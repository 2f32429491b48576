#pragma once

#include "torch/csrc/autograd/autograd.h"
#include "torch/csrc/autograd/function.h"
#include "torch/csrc/autograd/variable.h"
#include "torch/csrc/utils/variadic.h"
