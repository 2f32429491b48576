#pragma once

#include "torch/csrc/autograd/grad_mode.h"
