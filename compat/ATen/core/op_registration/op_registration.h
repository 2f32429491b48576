#pragma once

#include "torch/library.h"
