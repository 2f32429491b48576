#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hearth/cuda.h"
#include "hearth/distributed/store.h"
#include "hearth/distributed/types.h"

namespace hearth::distributed {

using std::chrono::milliseconds;

/// What a backend needs to connect the processes of a group.
struct BackendOptions {
  int rank = 0;
  int size = 1;
  std::shared_ptr<Store> store;  // with keys of this group only
  milliseconds timeout{0};
  std::string address;  // of this machine, as the other ranks reach it; empty if unknown
};

/// How a call runs.
struct BackendCall {
  uint32_t tag = 0;  // of a collective: equal on the ranks that make it; of a transfer: the user's
  milliseconds timeout{0};
  const cuda::Stream* stream = nullptr;  // on which a backend for a GPU puts the call
};

/// A transfer that has begun.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Waits for the end, or until it is on the stream, and returns the other rank. Called once.
  virtual int wait(milliseconds timeout) = 0;
};

/// An engine that moves data between the ranks of one group. Buffers are contiguous memory of
/// device(). A backend for the CPU returns from a collective at its end; one for a GPU puts it on
/// the call's stream and returns, and check() throws what goes wrong afterwards.
/// Collectives are called by one thread, other functions by any. Functions throw DistBackendError.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual Device device() const { return kCPU; }

  virtual void all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                          const BackendCall& call) = 0;
  virtual void reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
                      const BackendCall& call) = 0;
  /// `in` has size() times the `count` elements of `out`.
  virtual void reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype,
                              ReduceOp op, const BackendCall& call) = 0;
  virtual void broadcast(void* data, int64_t bytes, int root, const BackendCall& call) = 0;
  /// `out` has size() times the bytes of `in`.
  virtual void all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) = 0;
  virtual void gather(const void* in, void* out, int64_t bytes, int root,
                      const BackendCall& call) = 0;
  virtual void scatter(const void* in, void* out, int64_t bytes, int root,
                       const BackendCall& call) = 0;
  /// The parts for and from each rank have these bytes.
  virtual void all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                          const std::vector<int64_t>& out_bytes, const BackendCall& call) = 0;
  virtual void barrier(const BackendCall& call) = 0;

  virtual std::unique_ptr<Transfer> send(const void* data, int64_t bytes, int destination,
                                         const BackendCall& call) = 0;
  /// From rank `source`, or from any rank if it is negative.
  virtual std::unique_ptr<Transfer> receive(void* data, int64_t bytes, int source,
                                            const BackendCall& call) = 0;

  /// Throws if a call has failed after it was put on a stream.
  virtual void check() {}
  /// Makes all calls fail, here and soon on the other ranks.
  virtual void abort() noexcept = 0;
};

/// The entry point of a backend's plugin. It returns null if the plugin was built for another
/// version of this header.
inline constexpr int kBackendVersion = 2;
inline constexpr char kGlooSymbol[] = "hearth_gloo_backend";
using GlooEntry = Backend* (*)(int version, const BackendOptions* options);

/// Creates a backend by name; throws if it is unknown or its plugin is missing.
std::unique_ptr<Backend> create_backend(const std::string& name, const BackendOptions& options);

}  // namespace hearth::distributed
