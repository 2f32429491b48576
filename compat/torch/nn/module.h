#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/module.h"
#include "torch/types.h"
