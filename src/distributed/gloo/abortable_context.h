#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <memory>
#include <mutex>
#include <set>

namespace hearth::distributed {

class AbortableBuffer;

/// The buffers of a context that can be aborted. Gloo's collectives create buffers, each of which
/// notices a broken connection only to the rank that it waits for; abort() ends all waits.
class AbortableBuffers {
 public:
  void add(AbortableBuffer& buffer);
  void remove(AbortableBuffer& buffer);
  void abort();
  void throw_if_aborted();

 private:
  std::mutex mutex_;
  std::set<AbortableBuffer*> buffers_;
  bool aborted_ = false;
};

/// A Gloo context that connects all ranks of a group; its calls fail when abort() is called.
class AbortableContext : public gloo::rendezvous::Context {
 public:
  using gloo::rendezvous::Context::Context;

  void connect(gloo::rendezvous::Store& store, std::shared_ptr<gloo::transport::Device> device);
  void abort();

 private:
  std::shared_ptr<AbortableBuffers> buffers_ = std::make_shared<AbortableBuffers>();
};

}  // namespace hearth::distributed
