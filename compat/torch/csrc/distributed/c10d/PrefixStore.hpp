#pragma once

#include "c10/util/intrusive_ptr.h"
#include "hearth/distributed/store.h"

namespace c10d = hearth::distributed;
