#pragma once

#include <gloo/rendezvous/store.h>

#include <memory>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// A store of Hearth with Gloo's interface.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  explicit GlooStore(std::shared_ptr<distributed::Store> store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_->set(key, distributed::Store::Bytes(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const auto bytes = store_->get(key);
    return {bytes.begin(), bytes.end()};
  }
  // Gloo calls get() for each key that it has waited for, and get() itself waits.
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}

 private:
  std::shared_ptr<distributed::Store> store_;
};

}  // namespace hearth::distributed
