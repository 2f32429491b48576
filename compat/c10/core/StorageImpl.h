#pragma once

#include "c10/core/Allocator.h"
#include "c10/core/Storage.h"
