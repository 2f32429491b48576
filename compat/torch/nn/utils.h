#pragma once

#include "c10/namespaces.h"
#include "hearth/nn/packed_sequence.h"
#include "hearth/nn/utils.h"
