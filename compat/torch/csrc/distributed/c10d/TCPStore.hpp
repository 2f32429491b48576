#pragma once

#include "c10/util/intrusive_ptr.h"
#include "hearth/distributed/tcp_store.h"

namespace c10d = hearth::distributed;
