#pragma once

#include "torch/nn/pimpl.h"
