// GFLOP/s of square float32 and float64 matrix products: the kernel as Hearth runs it, then each
// library that it can choose.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <type_traits>
#include <vector>

#include "core/backends.h"
#include "core/threads.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/onednn.h"
#include "seam/matmul.h"

namespace {

using namespace hearth;

/// The time of the fastest call of f, which is repeated for 0.2 s.
template <class F>
double best_seconds(const F& f) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const auto start = Clock::now();
  double best = 1e9;
  do {
    const auto before = Clock::now();
    f();
    best = std::min(best, seconds(Clock::now() - before));
  } while (seconds(Clock::now() - start) < 0.2);
  return best;
}

template <class T>
View square(std::vector<T>& data, int64_t n) {
  View view;
  view.data = data.data();
  view.dtype = dtype_of<T>;
  view.dim = 2;
  view.numel = n * n;
  view.sizes[0] = view.sizes[1] = view.strides[0] = n;
  view.strides[1] = 1;
  return view;
}

/// Prints the speed of one n x n product with each implementation available for T.
template <class T>
void measure(int64_t n) {
  std::vector<T> a(size_t(n * n), T(1)), b = a, out = a;
  const double flops = 2.0 * double(n) * double(n) * double(n);
  const int64_t repeats = 1 + int64_t(1e5 / flops);
  const auto report = [&](const char* implementation, const auto& multiply) {
    const double time = best_seconds([&] {
      for (int64_t i = 0; i < repeats; ++i) multiply();
    });
    std::printf("  %s %8.1f", implementation, flops * double(repeats) / time * 1e-9);
  };
  const MatmulParams params{square(a, n), square(b, n), View(), square(out, n)};
  const cpu::Gemm gemm{dtype_of<T>,          n, n, n,          {a.data(), n, false},
                       {b.data(), n, false}, 1, 0, out.data(), n};

  std::printf("%-7s %5ld", name_of(dtype_of<T>), long(n));
  report("hearth", [&] {
    Ctx ctx(cpu_backend(), Device(kCPU), nullptr, nullptr);
    cpu::run(params, ctx);
  });
  report("BLAS", [&] { cpu::blas::multiply(gemm); });
  if constexpr (std::is_same_v<T, float>) report("oneDNN", [&] { cpu::onednn::multiply(gemm); });
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("GFLOP/s with %d threads; BLAS %s\n", get_num_threads(),
              blas_has_own_threads() ? "has its own threads and is held to one" : "uses OpenMP");
  for (int64_t n : {4, 8, 16, 32, 48, 64, 100, 256, 1000, 2000}) {
    measure<float>(n);
    measure<double>(n);
  }
}
