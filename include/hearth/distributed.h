#pragma once

// Several processes: stores, process groups and collective operations.
#include "hearth/distributed/collectives.h"
#include "hearth/distributed/init.h"
#include "hearth/distributed/process_group.h"
#include "hearth/distributed/rank_reports.h"
#include "hearth/distributed/store.h"
#include "hearth/distributed/tcp_store.h"
#include "hearth/distributed/types.h"
#include "hearth/distributed/work.h"
