#pragma once

#include "hearth/autograd/history.h"
#include "torch/csrc/autograd/node.h"
#include "torch/csrc/autograd/saved_variable.h"
