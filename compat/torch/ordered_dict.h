#pragma once

#include "c10/namespaces.h"
#include "hearth/ordered_dict.h"
