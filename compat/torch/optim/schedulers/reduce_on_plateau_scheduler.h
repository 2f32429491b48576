#pragma once

#include "c10/namespaces.h"
#include "hearth/optim/reduce_lr_on_plateau.h"
