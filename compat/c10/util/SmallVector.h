#pragma once

#include "c10/namespaces.h"
#include "hearth/small_vector.h"
