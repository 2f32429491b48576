#pragma once

#include "c10/namespaces.h"
#include "hearth/optim/lr_scheduler.h"
