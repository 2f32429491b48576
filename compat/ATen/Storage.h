#pragma once

#include "c10/core/Storage.h"
