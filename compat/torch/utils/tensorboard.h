#pragma once

// Python's torch.utils.tensorboard, which LibTorch does not have; torch/torch.h does not include
// it.
#include "c10/namespaces.h"
#include "hearth/utils/tensorboard.h"
