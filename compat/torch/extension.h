#pragma once

// The header of PyTorch's extensions, without pybind11: Hearth's programs have no Python.
#include "torch/all.h"
#include "torch/library.h"
