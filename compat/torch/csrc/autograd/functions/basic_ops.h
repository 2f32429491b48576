#pragma once

#include "hearth/autograd/basic_nodes.h"
#include "torch/csrc/autograd/function.h"
