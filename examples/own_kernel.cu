// A CUDA kernel of your own, written as for LibTorch: packed accessors are its arguments, and
// Hearth's current stream orders it with the operators before and after it.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <iostream>

template <class T>
using Matrix = torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits>;

/// Each thread computes one row.
template <class T>
__global__ void cumulate_rows(const Matrix<T> in, Matrix<T> out) {
  const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= in.size(0)) return;
  T sum = 0;
  for (int column = 0; column < in.size(1); ++column) {
    sum = sum + in[row][column];
    out[row][column] = sum;
  }
}

torch::Tensor cumulated_rows(const torch::Tensor& in) {
  const c10::cuda::CUDAGuard guard(in.device());
  torch::Tensor out = torch::empty_like(in);
  if (in.numel() == 0) return out;
  constexpr int kThreads = 128;
  const int blocks = int(in.size(0) + kThreads - 1) / kThreads;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(in.scalar_type(), "cumulated_rows", [&] {
    cumulate_rows<<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

int main() {
  if (!torch::cuda::is_available()) {
    std::cout << "no GPU\n";
    return 0;
  }
  const torch::Tensor in = torch::randn({4, 1000}, torch::kCUDA).t();
  try {
    const bool is_right = cumulated_rows(in).allclose(in.cumsum(1));
    std::cout << "as cumsum: " << is_right << '\n';
  } catch (const c10::NotImplementedError& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}
