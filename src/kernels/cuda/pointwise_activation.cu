#include "kernels/cuda/pointwise.cuh"

HEARTH_POINTWISE_FAMILY(Activation)
