#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hearth/nn/hooks.h"

namespace hearth::nn::detail {

/// The hooks of one module. Shared pointers, so that a hook may be removed while it runs.
struct HookTable {
  template <class Hook>
  using List = std::vector<std::pair<uint64_t, std::shared_ptr<const Hook>>>;
  List<ForwardPreHook> before;
  List<ForwardHook> after;
  List<BackwardPreHook> before_backward;
  List<BackwardHook> after_backward;
  List<LoadStateDictPreHook> loading;
  uint64_t next_id = 0;

  bool has_backward() const { return !before_backward.empty() || !after_backward.empty(); }
};

}  // namespace hearth::nn::detail
