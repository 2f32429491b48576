#pragma once

#include "c10/namespaces.h"
#include "hearth/io/pt.h"

namespace torch::jit {
using hearth::by_name::pickle_load;
using hearth::by_name::pickle_save;
}  // namespace torch::jit
