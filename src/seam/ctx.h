#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hearth/device.h"
#include "hearth/export.h"

namespace hearth {

class Backend;
class Mt19937;

/// An error that a kernel finds in data. core/faults.h turns it into PyTorch's error text.
enum class Fault : int32_t {
  kNoFault = 0,
  kIndexOutOfRange,  // values: index, dimension, size
  kNegativeIndex,    // values: index, dimension, size (where only non-negative ones are allowed)
  kBadLabel,         // values: label, number of classes
  kBadProbability,   // values: none
  kBadBagIndex,      // values: index
  kBadBagOffset,     // values: offset, number of indices
};

/// The fault of a stream, in memory that kernels can write: the first one reported stays until it
/// is read.
struct FaultSlot {
  int32_t fault = 0;
  int64_t values[3] = {};

  /// Reports a fault from a host kernel; GPU kernels do the same with atomicCAS.
  void report(Fault new_fault, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
    int32_t none = 0;
    if (std::atomic_ref<int32_t>(fault).compare_exchange_strong(none, -1)) {
      values[0] = a;
      values[1] = b;
      values[2] = c;
      std::atomic_ref<int32_t>(fault).store(static_cast<int32_t>(new_fault),
                                            std::memory_order_release);
    }
  }
};

/// Settings for the choice of algorithms by a device's libraries (hearth/context.h), as bits.
enum Numerics : uint32_t {
  kDeterministicCuDNN = 1u << 0,
  kBenchmarkCuDNN = 1u << 1,
  kAllowTF32CuDNN = 1u << 2,
  kUseCuDNN = 1u << 3,
  kAllowTF32CuBLAS = 1u << 4,
};

using StreamHandle = void*;  // the backend's own stream object; null on the CPU

/// The context of a kernel: device, stream, fault slot, scratch memory and Numerics.
class HEARTH_API Ctx {
 public:
  Ctx(Backend& backend, Device device, StreamHandle stream, FaultSlot* faults,
      uint32_t numerics = 0)
      : backend_(backend), device_(device), stream_(stream), faults_(faults), numerics_(numerics) {}
  Ctx(const Ctx&) = delete;
  Ctx& operator=(const Ctx&) = delete;
  ~Ctx();

  Backend& backend() const { return backend_; }
  Device device() const { return device_; }
  StreamHandle stream() const { return stream_; }
  FaultSlot* faults() const { return faults_; }
  /// Whether the setting was on when the kernel was launched.
  bool is_set(Numerics setting) const { return (numerics_ & setting) != 0; }
  uint32_t numerics() const { return numerics_; }

  /// Uninitialised memory for this launch, 64-byte aligned (256 on GPUs), freed in stream order
  /// when the Ctx is destroyed. It may throw OutOfMemoryError, so kernels allocate before they
  /// start (GPU kernels: on the host side of the launch).
  void* scratch(size_t bytes);

 private:
  struct Scratch;
  Backend& backend_;
  Device device_;
  StreamHandle stream_;
  FaultSlot* faults_;
  uint32_t numerics_;
  Scratch* scratch_ = nullptr;
};

/// The source of a random kernel's numbers: the generator's own state on the CPU, a (seed, offset)
/// pair of the counter-based Philox generator on GPUs (philox_key() in core/philox.h).
struct RandomSource {
  Mt19937* mt = nullptr;
  uint64_t seed = 0;
  uint64_t offset = 0;
  /// In a graph: device memory with the seed, which replaces `seed`, and a number to add to
  /// `offset`. Each replay of the graph sets them.
  const uint64_t* graph = nullptr;
};

}  // namespace hearth
