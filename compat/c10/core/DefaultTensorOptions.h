#pragma once

#include "c10/core/TensorOptions.h"
