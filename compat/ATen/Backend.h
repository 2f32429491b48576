#pragma once

#include "c10/core/Backend.h"
