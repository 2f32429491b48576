#pragma once

#include "c10/namespaces.h"
#include "hearth/io/archive.h"
