#pragma once

#include "c10/util/intrusive_ptr.h"
#include "hearth/distributed/work.h"

namespace c10d = hearth::distributed;
