#pragma once

#include "ATen/core/jit_type.h"
