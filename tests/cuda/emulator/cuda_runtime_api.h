// Replaces CUDA's header where kernels are compiled for the CPU: blocks run one after another, and
// the threads of a block as fibers that are switched at barriers and shuffles.
#pragma once

extern "C++" {  // NVIDIA's headers include this one within extern "C"

#include <math.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __host__
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
};
struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct uint4 {
  unsigned x, y, z, w;
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

using cudaStream_t = struct EmulatedStream*;
using cudaGraph_t = struct EmulatedGraph*;
enum cudaError_t { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToDevice = 3 };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return std::memset(to, value, bytes), cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}

namespace hearth::testing {

/// Runs a kernel: `thread` is called for every thread of every block.
void run_emulated(dim3 grid, dim3 block, const std::function<void()>& thread);
/// Waits for the other threads of the block, or of the warp.
void wait_for_block();
void wait_for_warp();
/// The thread's 8 bytes of the block's memory in which the threads of a warp exchange values.
void* exchange_slot(unsigned thread);

/// The value of another thread of the warp; this thread's own if the warp has no such thread.
template <class T>
T exchange(T value, unsigned from_lane) {
  static_assert(sizeof(T) <= 8);
  const unsigned warp = threadIdx.x / 32 * 32;
  std::memcpy(exchange_slot(threadIdx.x), &value, sizeof(T));
  wait_for_warp();
  if (from_lane < 32 && warp + from_lane < blockDim.x)
    std::memcpy(&value, exchange_slot(warp + from_lane), sizeof(T));
  wait_for_warp();
  return value;
}

}  // namespace hearth::testing

template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Args&&... args) {
  hearth::testing::run_emulated(config->gridDim, config->blockDim, [&] { kernel(args...); });
  return cudaSuccess;
}

inline void __syncthreads() { hearth::testing::wait_for_block(); }
inline void __syncwarp(unsigned = ~0u) { hearth::testing::wait_for_warp(); }
inline void __threadfence_system() {}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return hearth::testing::exchange(value, (threadIdx.x % 32) ^ unsigned(mask));
}
template <class T>
T __shfl_down_sync(unsigned, T value, int distance) {
  return hearth::testing::exchange(value, threadIdx.x % 32 + unsigned(distance));
}
template <class T>
T atomicAdd(T* to, T value) {
  const T old = *to;
  *to = old + value;
  return old;
}
template <class T>
T atomicMax(T* to, T value) {
  const T old = *to;
  if (value > old) *to = value;
  return old;
}
template <class T>
T atomicCAS(T* to, T expected, T value) {
  const T old = *to;
  if (old == expected) *to = value;
  return old;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }

inline float normcdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
inline float rsqrt(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
template <class A>
A min(A a, A b) {
  return a < b ? a : b;
}
template <class A>
A max(A a, A b) {
  return a > b ? a : b;
}

}  // extern "C++"
