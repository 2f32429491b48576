#pragma once

#include "hearth/dlpack.h"
