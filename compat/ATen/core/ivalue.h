#pragma once

#include "ATen/core/Dict.h"
#include "ATen/core/List.h"
