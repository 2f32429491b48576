#pragma once

#include "torch/optim.h"
