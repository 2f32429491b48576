#pragma once

#include "c10/namespaces.h"
#include "hearth/autograd.h"
