#pragma once

// Python's torch.amp, which LibTorch does not have; torch/torch.h does not include it.
#include "c10/namespaces.h"
#include "hearth/amp.h"
