#pragma once

#include "hearth/special.h"
#include "torch/types.h"
