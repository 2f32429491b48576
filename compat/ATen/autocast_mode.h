#pragma once

#include "c10/namespaces.h"
#include "hearth/autocast.h"
