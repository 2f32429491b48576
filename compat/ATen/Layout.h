#pragma once

#include "c10/core/Layout.h"
