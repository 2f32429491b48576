#pragma once

#include "ATen/cuda/CUDAContextLight.h"
#include "c10/cuda/CUDAStream.h"
