#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/expanding_array.h"
