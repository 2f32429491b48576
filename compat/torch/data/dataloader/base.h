#pragma once

#include "torch/data/dataloader.h"
#include "torch/data/detail/data_shuttle.h"
#include "torch/data/detail/sequencers.h"
