#pragma once

#include <chrono>  // as in LibTorch

#include "c10/namespaces.h"
#include "hearth/data.h"
#include "hearth/data/chunk.h"
