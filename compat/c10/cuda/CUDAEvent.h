#pragma once

#include "ATen/cuda/CUDAEvent.h"
