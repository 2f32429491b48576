#pragma once

#include "c10/namespaces.h"
#include "hearth/io/archive.h"

namespace torch::jit {
using hearth::jit::CompilationUnit;
}
