#pragma once

#include "c10/namespaces.h"
#include "hearth/io/from_file.h"

namespace at {
using hearth::io::from_file;
}  // namespace at

namespace torch {
using hearth::io::from_file;
}  // namespace torch
