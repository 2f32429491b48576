#pragma once

#include "hearth/autograd/saved_variable.h"
#include "torch/csrc/autograd/node.h"
