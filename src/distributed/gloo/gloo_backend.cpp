#include "distributed/gloo/gloo_backend.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "distributed/gloo/gloo_store.h"
#include "distributed/gloo/reduce_functions.h"

namespace hearth::distributed {

namespace {

/// Holds back SIGPIPE, which Gloo's writes to a broken connection raise, from this thread and from
/// those that it starts. Without this, the end of one rank would end the others.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &former_);
  }
  ~SigpipeBlock() {
    constexpr timespec kNow{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &kNow) == -1 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t pipe_, former_;
  bool was_pending_ = false;
};

/// Runs f; exceptions that are not Hearth's own, such as Gloo's, become DistBackendErrors.
template <class F>
auto translated(const F& f, const char* beginning = "Gloo: ") {
  const SigpipeBlock no_sigpipe;
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    detail::fail<DistBackendError>(beginning, error.what());
  }
}

std::shared_ptr<gloo::transport::Device> create_device(const std::string& address) {
  gloo::transport::tcp::attr attributes;
  const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface && *interface)
    attributes.iface = interface;
  else
    attributes.hostname = address.empty() ? "127.0.0.1" : address;
  try {
    return gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    if (interface && *interface)
      detail::fail<DistNetworkError>("GLOO_SOCKET_IFNAME is '", interface,
                                     "', but this machine has no such network interface with an "
                                     "address (Gloo: ",
                                     error.what(), ")");
    throw;
  }
}

ReduceFunction function_of(ReduceOp op, ScalarType dtype) {
  const ReduceFunction function = reduce_function(op, dtype);
  HEARTH_CHECK_AS(ValueError, function, "Gloo has no ", as_text(op), " of ", dtype);
  return function;
}

/// The limits of an all_reduce by one exchange: its bytes times the ranks, and the ranks. Above the
/// first, a ring is faster: it waits more often, but sends less (measured with connections that
/// take 100 us for 12 KiB). More ranks were not measured; the number of messages is the square of
/// the ranks.
constexpr int64_t kExchangedBytes = 512 << 10;
constexpr int kExchangingRanks = 16;

int64_t bytes_of(int64_t count, ScalarType dtype) {
  return count * static_cast<int64_t>(element_size(dtype));
}

// Gloo's options take the element's type only for its size.
template <class Options>
void set_memory(Options& options, void* data, int64_t count, ScalarType dtype) {
  const auto n = static_cast<size_t>(count);
  switch (element_size(dtype)) {
    case 1: options.setOutput(static_cast<uint8_t*>(data), n); break;
    case 2: options.setOutput(static_cast<uint16_t*>(data), n); break;
    case 4: options.setOutput(static_cast<uint32_t*>(data), n); break;
    default: options.setOutput(static_cast<uint64_t*>(data), n); break;
  }
}

size_t to_size(int64_t number) { return static_cast<size_t>(number); }

/// Combines the parts of all ranks, which lie one after another, in the order of the ranks.
void combine_parts(void* out, const char* parts, size_t ranks, size_t count, size_t bytes,
                   ReduceFunction combine) {
  std::memcpy(out, parts, bytes);
  for (size_t rank = 1; rank < ranks; ++rank) combine(out, out, parts + bytes * rank, count);
}

char* bytes_at(const void* data) { return static_cast<char*>(const_cast<void*>(data)); }

template <class Options>
Options options_for(const std::shared_ptr<AbortableContext>& context, const BackendCall& call) {
  Options options(context);
  options.setTag(call.tag);
  options.setTimeout(call.timeout);
  return options;
}

}  // namespace

GlooBackend::GlooBackend(const BackendOptions& options)
    : context_(std::make_shared<AbortableContext>(options.rank, options.size)) {
  translated(
      [&] {
        context_->setTimeout(options.timeout);
        GlooStore store(options.store);
        context_->connect(store, create_device(options.address));
        // No rank may close a connection before the others have finished: Gloo ends a process in
        // which that happens.
        gloo::BarrierOptions all(context_);
        gloo::barrier(all);
      },
      "cannot connect the ranks; with several networks, GLOO_SOCKET_IFNAME chooses one. Gloo: ");
}

void GlooBackend::check_reduction(ReduceOp op, ScalarType dtype) const { function_of(op, dtype); }

void GlooBackend::all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                             const BackendCall& call) {
  if (context_->size == 1) return;
  if (context_->size <= kExchangingRanks &&
      bytes_of(count, dtype) * context_->size <= kExchangedBytes)
    return all_reduce_by_exchange(data, count, dtype, op, call);
  translated([&] {
    auto options = options_for<gloo::AllreduceOptions>(context_, call);
    set_memory(options, data, count, dtype);
    options.setReduceFunction(function_of(op, dtype));
    gloo::allreduce(options);
  });
}

/// Sends everything to all ranks at once: one wait for the network, where a ring has several per
/// rank. All ranks combine in the order of the ranks, so that their results are equal.
void GlooBackend::all_reduce_by_exchange(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                                         const BackendCall& call) {
  const ReduceFunction combine = function_of(op, dtype);
  const auto bytes = static_cast<size_t>(bytes_of(count, dtype));
  const auto own = static_cast<size_t>(context_->rank), size = static_cast<size_t>(context_->size);
  received_.resize(std::max(received_.size(), bytes * size));
  translated([&] {
    const uint64_t slot = gloo::Slot::build(gloo::kAllreduceSlotPrefix, call.tag);
    const auto mine = context_->createUnboundBuffer(data, bytes);
    const auto theirs = context_->createUnboundBuffer(received_.data(), bytes * size);
    for (size_t rank = 0; rank < size; ++rank) {
      if (rank == own) continue;
      theirs->recv(static_cast<int>(rank), slot, bytes * rank, bytes);
      mine->send(static_cast<int>(rank), slot, 0, bytes);
    }
    for (size_t other = 1; other < size; ++other) theirs->waitRecv(nullptr, call.timeout);
    for (size_t other = 1; other < size; ++other) mine->waitSend(nullptr, call.timeout);
  });
  std::memcpy(received_.data() + bytes * own, data, bytes);
  combine_parts(data, received_.data(), size, to_size(count), bytes, combine);
}

void GlooBackend::reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
                         const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::ReduceOptions>(context_, call);
    set_memory(options, data, count, dtype);
    options.setReduceFunction(function_of(op, dtype));
    options.setRoot(root);
    gloo::reduce(options);
  });
}

void GlooBackend::reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype,
                                 ReduceOp op, const BackendCall& call) {
  const ReduceFunction combine = function_of(op, dtype);
  const int64_t bytes = bytes_of(count, dtype);
  const std::vector<int64_t> parts(static_cast<size_t>(context_->size), bytes);
  const std::unique_ptr<char[]> received(new char[static_cast<size_t>(bytes * context_->size)]);
  exchange(in, parts, received.get(), parts, call);
  combine_parts(out, received.get(), parts.size(), to_size(count), to_size(bytes), combine);
}

void GlooBackend::broadcast(void* data, int64_t bytes, int root, const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::BroadcastOptions>(context_, call);
    options.setOutput(bytes_at(data), static_cast<size_t>(bytes));
    options.setRoot(root);
    gloo::broadcast(options);
  });
}

void GlooBackend::all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::AllgatherOptions>(context_, call);
    options.setInput(bytes_at(in), static_cast<size_t>(bytes));
    options.setOutput(bytes_at(out), static_cast<size_t>(bytes * context_->size));
    gloo::allgather(options);
  });
}

void GlooBackend::gather(const void* in, void* out, int64_t bytes, int root,
                         const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::GatherOptions>(context_, call);
    options.setInput(bytes_at(in), static_cast<size_t>(bytes));
    if (context_->rank == root)
      options.setOutput(bytes_at(out), static_cast<size_t>(bytes * context_->size));
    options.setRoot(root);
    gloo::gather(options);
  });
}

void GlooBackend::scatter(const void* in, void* out, int64_t bytes, int root,
                          const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::ScatterOptions>(context_, call);
    if (context_->rank == root) {
      std::vector<char*> parts;
      for (int rank = 0; rank < context_->size; ++rank)
        parts.push_back(bytes_at(in) + bytes * rank);
      options.setInputs(parts, static_cast<size_t>(bytes));
    }
    options.setOutput(bytes_at(out), static_cast<size_t>(bytes));
    options.setRoot(root);
    gloo::scatter(options);
  });
}

void GlooBackend::all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                             const std::vector<int64_t>& out_bytes, const BackendCall& call) {
  check_parts(in_bytes, out_bytes, call);
  exchange(in, in_bytes, out, out_bytes, call);
}

/// Throws unless each rank expects as many bytes as the others send: Gloo ends the process if a
/// message is longer than the receiver's buffer.
void GlooBackend::check_parts(const std::vector<int64_t>& in_bytes,
                              const std::vector<int64_t>& out_bytes, const BackendCall& call) {
  std::vector<int64_t> sent = in_bytes, coming(out_bytes.size());
  translated([&] {
    auto options = options_for<gloo::AlltoallOptions>(context_, call);
    options.setInput(sent.data(), sent.size());
    options.setOutput(coming.data(), coming.size());
    gloo::alltoall(options);
  });
  for (size_t rank = 0; rank < coming.size(); ++rank)
    HEARTH_CHECK_AS(ValueError, coming[rank] == out_bytes[rank], "rank ", rank, " sends ",
                    coming[rank], " bytes to rank ", context_->rank, ", which expects ",
                    out_bytes[rank], "; the sizes of the parts must agree");
}

void GlooBackend::exchange(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                           const std::vector<int64_t>& out_bytes, const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::AlltoallvOptions>(context_, call);
    options.setInput(bytes_at(in), in_bytes);
    options.setOutput(bytes_at(out), out_bytes);
    gloo::alltoallv(options);
  });
}

void GlooBackend::barrier(const BackendCall& call) {
  translated([&] {
    auto options = options_for<gloo::BarrierOptions>(context_, call);
    gloo::barrier(options);
  });
}

void GlooBackend::abort() noexcept {
  try {
    context_->abort();
  } catch (const std::exception&) {
    // The connections are broken already.
  }
}

namespace {

/// A send or a receive.
class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(AbortableContext& context, void* data, int64_t bytes, bool sends)
      : buffer_(bytes > 0 ? context.createUnboundBuffer(data, static_cast<size_t>(bytes))
                          : context.createUnboundBuffer(&placeholder_, 1)),
        sends_(sends) {}

  int wait(milliseconds timeout) override {
    return translated([&] {
      int rank = -1;
      if (sends_)
        buffer_->waitSend(&rank, timeout);
      else
        buffer_->waitRecv(&rank, timeout);
      return rank;
    });
  }
  gloo::transport::UnboundBuffer& buffer() { return *buffer_; }

 private:
  char placeholder_ = 0;  // Gloo cannot send 0 bytes
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  const bool sends_;
};

/// The channel of a transfer. Each size has its own channel, because Gloo ends the process if a
/// message is longer than the receiver's buffer. Only channels of collectives use the highest byte.
uint64_t slot_of(uint32_t tag, int64_t bytes) {
  uint64_t hash = static_cast<uint64_t>(tag) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(bytes);
  hash = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9u;
  return (hash ^ hash >> 29) & 0x00ffffffffffffffu;
}

}  // namespace

std::unique_ptr<Transfer> GlooBackend::send(const void* data, int64_t bytes, int destination,
                                            const BackendCall& call) {
  return translated([&] {
    auto transfer = std::make_unique<GlooTransfer>(*context_, bytes_at(data), bytes, true);
    transfer->buffer().send(destination, slot_of(call.tag, bytes));
    return std::unique_ptr<Transfer>(std::move(transfer));
  });
}

std::unique_ptr<Transfer> GlooBackend::receive(void* data, int64_t bytes, int source,
                                               const BackendCall& call) {
  return translated([&] {
    auto transfer = std::make_unique<GlooTransfer>(*context_, data, bytes, false);
    std::vector<int> others;
    for (int rank = 0; rank < context_->size; ++rank)
      if (rank != context_->rank) others.push_back(rank);
    if (source >= 0)
      transfer->buffer().recv(source, slot_of(call.tag, bytes));
    else
      transfer->buffer().recv(std::move(others), slot_of(call.tag, bytes));
    return std::unique_ptr<Transfer>(std::move(transfer));
  });
}

}  // namespace hearth::distributed

extern "C" __attribute__((visibility("default"))) hearth::distributed::Backend* hearth_gloo_backend(
    int version, const hearth::distributed::BackendOptions* options) {
  if (version != hearth::distributed::kBackendVersion) return nullptr;
  return new hearth::distributed::GlooBackend(*options);
}
