#pragma once

#include "ATen/Context.h"
#include "hearth/parallel_for.h"
