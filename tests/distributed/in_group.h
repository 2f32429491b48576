#pragma once

#include <chrono>
#include <cstdlib>

#include "hearth/distributed.h"

namespace hearth::testing {

/// The backend of a test's process: TEST_BACKEND, or gloo.
inline const char* test_backend() {
  const char* const wanted = std::getenv("TEST_BACKEND");
  return wanted ? wanted : "gloo";
}

/// Runs f(rank, size) between init_process_group and destroy_process_group.
template <class F>
void in_group(const F& f) {
  namespace dist = hearth::distributed;
  dist::init_process_group(test_backend(), dist::InitOptions().timeout(std::chrono::seconds(30)));
  f(dist::get_rank(), dist::get_world_size());
  dist::destroy_process_group();
}

}  // namespace hearth::testing
