#pragma once

#include "torch/csrc/jit/serialization/pickle.h"
#include "torch/jit.h"
#include "torch/types.h"
