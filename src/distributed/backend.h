#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/deadline.h"
#include "hearth/cuda.h"
#include "hearth/distributed/store.h"
#include "hearth/distributed/types.h"

namespace hearth::distributed {

/// What a backend needs to connect the processes of a group.
struct BackendOptions {
  int rank = 0;
  int size = 1;
  std::shared_ptr<Store> store;  // with keys of this group only
  milliseconds timeout{0};
  std::string address;  // of this machine, as the other ranks reach it; empty if unknown
  std::function<void()> throw_if_aborted;  // for a backend that waits without the store
};

/// How a call runs.
struct BackendCall {
  uint32_t tag = 0;  // equal on the ranks of a collective; given by the user for a transfer
  milliseconds timeout{0};
  const cuda::Stream* stream = nullptr;  // on which a backend for a GPU puts the call
};

/// One of several sends and receives that begin together.
struct TransferPart {
  char* data = nullptr;
  int64_t bytes = 0;
  int peer = -1;
  bool sends = false;
  uint32_t tag = 0;  // the user's
};

/// A transfer that has begun.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Waits until the transfer has ended or, for a GPU, until it is on the stream. Returns the other
  /// rank; for several sends and receives, the result has no meaning. Called once.
  virtual int wait(milliseconds timeout) = 0;
};

/// Sends and receives that a backend begins one by one.
class TransferList final : public Transfer {
 public:
  void add(std::unique_ptr<Transfer> transfer) { transfers_.push_back(std::move(transfer)); }
  int wait(milliseconds timeout) override {
    const Deadline deadline = Deadline::after(timeout);
    for (const auto& transfer : transfers_)
      transfer->wait(std::max(deadline.left(), milliseconds(1)));
    return -1;
  }

 private:
  std::vector<std::unique_ptr<Transfer>> transfers_;
};

/// An engine that moves data between the ranks of one group. Buffers are contiguous memory of
/// device(). A backend for the CPU returns from a collective at its end; one for a GPU puts it on
/// the call's stream and returns, and check() throws errors that occur afterwards.
/// Collectives are called by one thread, other functions by any. They throw DistBackendError if the
/// engine fails.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual Device device() const { return kCPU; }
  virtual bool receives_from_any() const { return true; }
  /// Throws a ValueError or TypeError if the engine lacks the reduction.
  virtual void check_reduction(ReduceOp op, ScalarType dtype) const = 0;
  virtual bool averages() const { return false; }
  /// The reduction that the engine computes: SUM instead of AVG, unless it averages().
  ReduceOp op_for(ReduceOp wanted) const {
    return wanted == ReduceOp::AVG && !averages() ? ReduceOp(ReduceOp::SUM) : wanted;
  }

  virtual void all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                          const BackendCall& call) = 0;
  virtual void reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
                      const BackendCall& call) = 0;
  /// `in` has `count` elements for each rank of the group, `out` has `count`.
  virtual void reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype,
                              ReduceOp op, const BackendCall& call) = 0;
  virtual void broadcast(void* data, int64_t bytes, int root, const BackendCall& call) = 0;
  /// `out` has `bytes` for each rank of the group, `in` has `bytes`.
  virtual void all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) = 0;
  virtual void gather(const void* in, void* out, int64_t bytes, int root,
                      const BackendCall& call) = 0;
  virtual void scatter(const void* in, void* out, int64_t bytes, int root,
                       const BackendCall& call) = 0;
  /// `in_bytes`: sizes of the parts sent to each rank; `out_bytes`: of those received from each.
  virtual void all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                          const std::vector<int64_t>& out_bytes, const BackendCall& call) = 0;
  virtual void barrier(const BackendCall& call) = 0;

  virtual std::unique_ptr<Transfer> send(const void* data, int64_t bytes, int destination,
                                         const BackendCall& call) = 0;
  /// From rank `source`, or from any rank if it is negative and receives_from_any().
  virtual std::unique_ptr<Transfer> receive(void* data, int64_t bytes, int source,
                                            const BackendCall& call) = 0;

  /// Begins sends and receives together: otherwise, some engines begin one only after the previous
  /// one has ended.
  virtual std::unique_ptr<Transfer> transfer(const std::vector<TransferPart>& parts,
                                             const BackendCall& call) {
    auto all = std::make_unique<TransferList>();
    for (const TransferPart& part : parts) {
      BackendCall own = call;
      own.tag = part.tag;
      all->add(part.sends ? send(part.data, part.bytes, part.peer, own)
                          : receive(part.data, part.bytes, part.peer, own));
    }
    return all;
  }

  /// Throws if a call has failed after it was put on a stream.
  virtual void check() {}
  /// Makes all calls fail, here and soon on the other ranks.
  virtual void abort() noexcept = 0;
};

/// The version of this header.
inline constexpr int kBackendVersion = 4;
/// The entry point of a backend's plugin: hearth_gloo_backend, hearth_nccl_backend. It returns null
/// if the plugin was built for another version of this header.
using BackendEntry = Backend* (*)(int version, const BackendOptions* options);

/// Creates a backend by name; throws if it is unknown or its plugin is missing.
std::unique_ptr<Backend> create_backend(const std::string& name, const BackendOptions& options);

}  // namespace hearth::distributed
