#pragma once

#include "c10/util/Float8_e4m3fnuz.h"
