#pragma once

#include "torch/csrc/autograd/saved_variable.h"
