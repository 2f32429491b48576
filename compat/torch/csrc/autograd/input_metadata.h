#pragma once

#include "torch/csrc/autograd/function.h"
