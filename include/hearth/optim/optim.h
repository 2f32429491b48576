#pragma once

/// @file
/// Optimizers and learning rate schedulers.
#include "hearth/optim/adagrad.h"
#include "hearth/optim/adam.h"
#include "hearth/optim/adamw.h"
#include "hearth/optim/composite_schedulers.h"
#include "hearth/optim/cyclic_lr.h"
#include "hearth/optim/lr_scheduler.h"
#include "hearth/optim/one_cycle_lr.h"
#include "hearth/optim/reduce_lr_on_plateau.h"
#include "hearth/optim/rmsprop.h"
#include "hearth/optim/schedulers.h"
#include "hearth/optim/serialize.h"
#include "hearth/optim/sgd.h"
