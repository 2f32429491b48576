#pragma once

#include "torch/nn.h"
