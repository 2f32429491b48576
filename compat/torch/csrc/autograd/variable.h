#pragma once

#include "hearth/autograd/history.h"
#include "torch/csrc/autograd/edge.h"
#include "torch/csrc/autograd/node.h"
