#pragma once

#include "ATen/core/ivalue.h"
#include "hearth/io/pt.h"
#include "hearth/io/serialize.h"
#include "torch/serialize/archive.h"
