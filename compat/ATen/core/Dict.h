#pragma once

#include "c10/namespaces.h"
#include "hearth/ivalue_containers.h"

namespace c10::impl {
using GenericDict = hearth::GenericDict;
}
