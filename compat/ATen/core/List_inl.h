#pragma once

#include "ATen/core/List.h"
