#pragma once

// Python's torch.utils.checkpoint, which LibTorch does not have; torch/torch.h does not include it.
#include "c10/namespaces.h"
#include "hearth/utils/checkpoint.h"
