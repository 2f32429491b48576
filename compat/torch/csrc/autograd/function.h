#pragma once

#include <vector>

#include "c10/namespaces.h"
#include "hearth/autograd.h"

namespace hearth::autograd {
using tensor_list = std::vector<Tensor>;
}
