#pragma once

#include <chrono>

#include "hearth/distributed.h"

namespace hearth::testing {

/// Runs f(rank, size) between init_process_group and destroy_process_group.
template <class F>
void in_group(const F& f) {
  namespace dist = hearth::distributed;
  dist::init_process_group("gloo", dist::InitOptions().timeout(std::chrono::seconds(30)));
  f(dist::get_rank(), dist::get_world_size());
  dist::destroy_process_group();
}

}  // namespace hearth::testing
