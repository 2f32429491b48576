#pragma once

#include "torch/csrc/distributed/c10d/ProcessGroup.hpp"

namespace hearth::distributed {

/// LibTorch's class for a process group over Gloo. GLOO_SOCKET_IFNAME chooses the interface.
class ProcessGroupGloo : public ProcessGroup {
 public:
  struct Options {
    static c10::intrusive_ptr<Options> create(
        std::chrono::milliseconds timeout = ProcessGroup::kDefaultTimeout) {
      auto options = c10::make_intrusive<Options>();
      options->timeout = timeout;
      return options;
    }
    std::chrono::milliseconds timeout = ProcessGroup::kDefaultTimeout;
  };

  ProcessGroupGloo(std::shared_ptr<Store> store, int rank, int size,
                   const c10::intrusive_ptr<Options>& options = Options::create())
      : ProcessGroup(std::move(store), rank, size, "gloo", options->timeout) {}
};

}  // namespace hearth::distributed
