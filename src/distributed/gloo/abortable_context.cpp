#include "distributed/gloo/abortable_context.h"

namespace hearth::distributed {

using gloo::transport::UnboundBuffer;
using std::chrono::milliseconds;

/// A buffer whose waiting threads get an exception when the context is aborted.
class AbortableBuffer final : public UnboundBuffer {
 public:
  AbortableBuffer(std::unique_ptr<UnboundBuffer> buffer, std::shared_ptr<AbortableBuffers> all)
      : UnboundBuffer(buffer->ptr, buffer->size), buffer_(std::move(buffer)), all_(std::move(all)) {
    all_->add(*this);
  }
  ~AbortableBuffer() override { all_->remove(*this); }

  bool waitRecv(int* rank, milliseconds timeout) override {
    all_->throw_if_aborted();
    return buffer_->waitRecv(rank, timeout) || fail();
  }
  bool waitSend(int* rank, milliseconds timeout) override {
    all_->throw_if_aborted();
    return buffer_->waitSend(rank, timeout) || fail();
  }
  void abortWaitRecv() override { buffer_->abortWaitRecv(); }
  void abortWaitSend() override { buffer_->abortWaitSend(); }
  void send(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    all_->throw_if_aborted();
    buffer_->send(rank, slot, offset, bytes);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    all_->throw_if_aborted();
    buffer_->recv(rank, slot, offset, bytes);
  }
  void recv(std::vector<int> ranks, uint64_t slot, size_t offset, size_t bytes) override {
    all_->throw_if_aborted();
    buffer_->recv(std::move(ranks), slot, offset, bytes);
  }

 private:
  [[noreturn]] bool fail() { throw gloo::IoException("the call was aborted"); }

  std::unique_ptr<UnboundBuffer> buffer_;
  std::shared_ptr<AbortableBuffers> all_;
};

void AbortableBuffers::add(AbortableBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.insert(&buffer);
}

void AbortableBuffers::remove(AbortableBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.erase(&buffer);
}

void AbortableBuffers::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  for (AbortableBuffer* const buffer : buffers_) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

void AbortableBuffers::throw_if_aborted() {
  const std::lock_guard lock(mutex_);
  if (aborted_) throw gloo::IoException("the call was aborted");
}

namespace {

/// Passes everything to another transport context, and makes its buffers abortable.
class AbortableTransport final : public gloo::transport::Context {
 public:
  AbortableTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<AbortableBuffers> buffers)
      : gloo::transport::Context(inner->rank, inner->size),
        inner_(std::move(inner)),
        buffers_(std::move(buffers)) {
    setTimeout(inner_->getTimeout());
  }

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override {
    return inner_->getPair(peer);
  }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override {
    return inner_->createPair(peer);
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* data, size_t bytes) override {
    return std::make_unique<AbortableBuffer>(inner_->createUnboundBuffer(data, bytes), buffers_);
  }

 private:
  std::shared_ptr<gloo::transport::Context> inner_;
  std::shared_ptr<AbortableBuffers> buffers_;
};

}  // namespace

void AbortableContext::connect(gloo::rendezvous::Store& store,
                               std::shared_ptr<gloo::transport::Device> device) {
  connectFullMesh(store, device);
  transportContext_ = std::make_shared<AbortableTransport>(transportContext_, buffers_);
}

void AbortableContext::abort() {
  buffers_->abort();
  closeConnections();
}

}  // namespace hearth::distributed
