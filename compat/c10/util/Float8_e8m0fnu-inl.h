#pragma once

#include "c10/util/Float8_e8m0fnu.h"
