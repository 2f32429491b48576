#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

// Times the multiply-adds of float32 that all cores can do: chains of vector instructions that stay
// in registers. No product of matrices is faster, so the multiplications of a layer divided by this
// peak are a lower bound of its time (docs/adr/0016-limits-of-speed.md). Prints "arithmetic_peak
// best median" in GFLOP/s; nothing if the processor is not an x86-64 one with AVX2.

#if defined(__x86_64__)
namespace {

constexpr int64_t kSteps = 20'000'000;
constexpr int kChains = 12;  // enough to hide the latency of a multiply-add

// clang-format off
#define REGISTERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
  "xmm14", "xmm15"
#define CHAIN(kind, n) "vfmadd231ps %%" kind "14, %%" kind "15, %%" kind #n "\n\t"
#define CHAINS(kind) \
  CHAIN(kind, 0) CHAIN(kind, 1) CHAIN(kind, 2) CHAIN(kind, 3) CHAIN(kind, 4) CHAIN(kind, 5) \
  CHAIN(kind, 6) CHAIN(kind, 7) CHAIN(kind, 8) CHAIN(kind, 9) CHAIN(kind, 10) CHAIN(kind, 11)
// clang-format on

/// Multiply-adds on one core; `lanes` is the number of floats in a vector, 16 or 8.
void run_chains(int lanes) {
  asm volatile("vzeroall" ::: REGISTERS, "xmm12", "xmm13");
  if (lanes == 16)
    for (int64_t i = 0; i < kSteps; ++i) asm volatile(CHAINS("zmm")::: REGISTERS);
  else
    for (int64_t i = 0; i < kSteps; ++i) asm volatile(CHAINS("ymm")::: REGISTERS);
  asm volatile("vzeroupper" ::: REGISTERS);
}

double peak(int lanes) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned core = 0; core < cores; ++core) threads.emplace_back(run_chains, lanes);
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  return 2.0 * kChains * lanes * double(kSteps) * cores / time.count();
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  const int lanes = __builtin_cpu_supports("avx512f") ? 16 : 8;
  std::vector<double> peaks;
  for (int i = 0; i < 9; ++i) peaks.push_back(peak(lanes));
  std::sort(peaks.begin(), peaks.end());
  std::printf("arithmetic_peak %.1f %.1f\n", peaks.back(), peaks[peaks.size() / 2]);
}
#else
int main() {}
#endif
