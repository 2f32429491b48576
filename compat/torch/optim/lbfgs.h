#pragma once

#include "c10/namespaces.h"
#include "hearth/optim/lbfgs.h"
