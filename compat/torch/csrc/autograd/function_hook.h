#pragma once

#include "c10/namespaces.h"
#include "hearth/autograd/node_hooks.h"
