#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/data_parallel.h"
