#pragma once

#include "c10/namespaces.h"
#include "hearth/custom_function.h"
