#pragma once

#include "ATen/core/DeprecatedTypeProperties.h"
#include "c10/namespaces.h"
#include "hearth/tensor.h"
