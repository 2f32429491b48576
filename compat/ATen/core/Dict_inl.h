#pragma once

#include "ATen/core/Dict.h"
