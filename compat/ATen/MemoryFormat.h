#pragma once

#include "c10/core/MemoryFormat.h"
