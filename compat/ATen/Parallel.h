#pragma once

#include "ATen/Context.h"
