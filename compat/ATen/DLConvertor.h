#pragma once

#include "ATen/Tensor.h"
#include "ATen/dlpack.h"
