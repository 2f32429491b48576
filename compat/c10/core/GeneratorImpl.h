#pragma once

#include "ATen/CPUGeneratorImpl.h"
