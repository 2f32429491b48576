#pragma once

#include "c10/namespaces.h"
#include "hearth/thread_state.h"
