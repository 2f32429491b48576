#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/init.h"
