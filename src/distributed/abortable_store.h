#pragma once

#include <functional>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// A part of a store in which waiting ends when the group is aborted.
class AbortableStore final : public PrefixStore {
 public:
  /// `check` throws if the group was aborted.
  AbortableStore(std::string prefix, std::shared_ptr<Store> store, std::function<void()> check)
      : PrefixStore(std::move(prefix), std::move(store)), check_(std::move(check)) {}

  using PrefixStore::wait;
  Bytes get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;

 private:
  std::function<void()> check_;
};

}  // namespace hearth::distributed
