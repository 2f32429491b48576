#pragma once

#include "c10/namespaces.h"
#include "hearth/sym_int.h"

#define C10_AS_INTARRAYREF_SLOW(values) ::c10::asIntArrayRefSlow(values, __FILE__, __LINE__)
