#pragma once

#include "torch/arg.h"
#include "torch/enum.h"
#include "torch/expanding_array.h"
#include "torch/nn/cloneable.h"
#include "torch/nn/functional.h"
#include "torch/nn/init.h"
#include "torch/nn/module.h"
#include "torch/nn/modules.h"
#include "torch/nn/options.h"
#include "torch/nn/pimpl.h"
#include "torch/nn/utils.h"
#include "torch/ordered_dict.h"
