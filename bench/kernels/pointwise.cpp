// Pointwise kernels: large arrays against memcpy, arrays in cache, the overhead of small calls,
// strided and broadcast operands, and conversions.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "functors/activation.h"
#include "functors/arithmetic.h"
#include "functors/compare.h"
#include "functors/math.h"
#include "functors/trig.h"
#include "tests/kernels/pointwise_support.h"

namespace {

using namespace hearth;
using namespace hearth::test;

/// Seconds per call: the best of several rounds.
double seconds(const std::function<void()>& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  int64_t calls = 1;
  for (int round = 0; round < 30;) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < calls; ++i) f();
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    if (taken < 0.001 && calls < (1 << 20)) {
      calls *= 2;
      continue;
    }
    best = std::min(best, taken / double(calls));
    ++round;
  }
  return best;
}

constexpr int64_t kLarge = 16 << 20;

/// Memory that is also read and written as other dtypes.
struct Arrays {
  std::vector<float> a = std::vector<float>(kLarge, 0.7f), b = a, out = a;
};

/// Prints the times of a functor on arrays of five sizes.
template <class T, class F>
void time_sizes(const char* name, Arrays& arrays, const F& functor, int inputs) {
  const cpu::PointwiseTable& table = cpu::pointwise_table();
  std::printf("%-12s", name);
  for (const int64_t n : {int64_t{4}, int64_t{16}, int64_t{64}, int64_t{4096},
                          kLarge / int64_t(sizeof(T) > 4 ? 2 : 1)}) {
    const std::vector<Operand> operands{operand(arrays.a.data(), dtype_of<T>, {1}),
                                        operand(arrays.b.data(), dtype_of<T>, {1})};
    const auto p = params(functor, Formula::kValue, dtype_of<T>, {n},
                          operand(arrays.out.data(), dtype_of<T>, {1}),
                          {operands.begin(), operands.begin() + inputs});
    const double t = seconds([&] { cpu::run_with(table, p); });
    if (n <= 64)
      std::printf(" %7.1f ns", t * 1e9);
    else if (n == 4096)
      std::printf(" %6.3f ns/element", t * 1e9 / double(n));
    else
      std::printf(" %6.3f ns/element %5.1f GB/s", t * 1e9 / double(n),
                  double(n * int64_t(sizeof(T)) * (inputs + 1)) / t * 1e-9);
  }
  std::printf("\n");
}

void time_layouts_and_casts(Arrays& arrays) {
  const cpu::PointwiseTable& table = cpu::pointwise_table();
  const auto time = [&](const char* name, const PointwiseParams& p) {
    const double t = seconds([&] { cpu::run_with(table, p); });
    std::printf("%-36s %8.3f ns/element %10.1f ns\n", name, t * 1e9 / double(p.numel), t * 1e9);
  };
  float* a = arrays.a.data();
  float* b = arrays.b.data();
  float* out = arrays.out.data();
  const int64_t n = 4096;
  const auto dense = operand(out, kFloat, {n, 1});
  time("copy, transposed 4096 x 4096",
       params(fn::Copy{}, Formula::kValue, kFloat, {n, n}, dense, {operand(a, kFloat, {1, n})}));
  time("add, one transposed", params(fn::Add{}, Formula::kValue, kFloat, {n, n}, dense,
                                     {operand(a, kFloat, {1, n}), operand(b, kFloat, {n, 1})}));
  time("add, row broadcast", params(fn::Add{}, Formula::kValue, kFloat, {n, n}, dense,
                                    {operand(a, kFloat, {n, 1}), operand(b, kFloat, {0, 1})}));
  time("add, column broadcast", params(fn::Add{}, Formula::kValue, kFloat, {n, n}, dense,
                                       {operand(a, kFloat, {n, 1}), operand(b, kFloat, {1, 0})}));
  time("add, number", params(fn::Add{}, Formula::kValue, kFloat, {n * n}, operand(out, kFloat, {1}),
                             {operand(a, kFloat, {1}), number(1.0f)}));
  time("add, number, 4 elements",
       params(fn::Add{}, Formula::kValue, kFloat, {4}, operand(out, kFloat, {1}),
              {operand(a, kFloat, {1}), number(1.0f)}));
  time("add, 4 elements, one strided",
       params(fn::Add{}, Formula::kValue, kFloat, {4}, operand(out, kFloat, {1}),
              {operand(a, kFloat, {3}), operand(b, kFloat, {1})}));
  time("add, number, 1000 elements",
       params(fn::Add{}, Formula::kValue, kFloat, {1000}, operand(out, kFloat, {1}),
              {operand(a, kFloat, {1}), number(1.0f)}));
  time("add, stride 2, 4096 elements",
       params(fn::Add{}, Formula::kValue, kFloat, {n}, operand(out, kFloat, {1}),
              {operand(a, kFloat, {2}), operand(b, kFloat, {1})}));
  time("add, all strided, 4096 elements",
       params(fn::Add{}, Formula::kValue, kFloat, {n}, operand(out, kFloat, {2}),
              {operand(a, kFloat, {2}), operand(b, kFloat, {2})}));
  time("copy, rows of 3 of 4", params(fn::Copy{}, Formula::kValue, kFloat, {n, 3},
                                      operand(out, kFloat, {3, 1}), {operand(a, kFloat, {4, 1})}));
  const auto cast = [&](const char* name, ScalarType from, ScalarType to) {
    time(name, params(fn::Copy{}, Formula::kValue, to, {n}, operand(out, to, {1}),
                      {operand(a, from, {1})}));
  };
  cast("cast float -> half, 4096", kFloat, kHalf);
  cast("cast half -> float, 4096", kHalf, kFloat);
  cast("cast float -> bfloat16, 4096", kFloat, kBFloat16);
  cast("cast bfloat16 -> float, 4096", kBFloat16, kFloat);
  cast("cast uint8 -> float, 4096", kByte, kFloat);
  cast("cast float -> int64, 4096", kFloat, kLong);
  cast("cast double -> float, 4096", kDouble, kFloat);
  const auto flat = operand(out, kBool, {1});
  time("lt, 4096 elements", params(fn::Lt{}, Formula::kValue, kFloat, {n}, flat,
                                   {operand(a, kFloat, {1}), operand(b, kFloat, {1})}));
}

}  // namespace

int main() {
  Arrays arrays;
  std::printf("%s\n", cpu::name_of(cpu::isa_level()));
  const double copy =
      seconds([&] { std::memcpy(arrays.out.data(), arrays.a.data(), size_t(kLarge) * 4); });
  std::printf("memcpy %28.3f ns per float %.1f GB/s (read + write)\n", copy * 1e9 / double(kLarge),
              double(kLarge) * 8e-9 / copy);
  std::printf("%-12s %10s %10s %10s %17s %17s\n", "", "4", "16", "64", "4096", "16M (f64: 8M)");
  time_sizes<float>("copy", arrays, fn::Copy{}, 1);
  time_sizes<float>("add", arrays, fn::Add{}, 2);
  time_sizes<float>("mul", arrays, fn::Mul{}, 2);
  time_sizes<float>("exp", arrays, fn::Exp{}, 1);
  time_sizes<float>("expm1", arrays, fn::Expm1{}, 1);
  time_sizes<float>("log", arrays, fn::Log{}, 1);
  time_sizes<float>("log1p", arrays, fn::Log1p{}, 1);
  time_sizes<float>("tanh", arrays, fn::Tanh{}, 1);
  time_sizes<float>("erf", arrays, fn::Erf{}, 1);
  time_sizes<float>("gelu", arrays, fn::Gelu{}, 1);
  time_sizes<float>("sin", arrays, fn::Sin{}, 1);
  time_sizes<float>("pow", arrays, fn::Pow{}, 2);
  time_sizes<double>("add f64", arrays, fn::Add{}, 2);
  time_sizes<double>("exp f64", arrays, fn::Exp{}, 1);
  time_sizes<double>("log f64", arrays, fn::Log{}, 1);
  time_sizes<double>("tanh f64", arrays, fn::Tanh{}, 1);
  time_sizes<double>("erf f64", arrays, fn::Erf{}, 1);
  time_sizes<double>("gelu f64", arrays, fn::Gelu{}, 1);
  time_sizes<double>("pow f64", arrays, fn::Pow{}, 2);
  time_sizes<Half>("add f16", arrays, fn::Add{}, 2);
  time_sizes<BFloat16>("add bf16", arrays, fn::Add{}, 2);
  time_layouts_and_casts(arrays);
}
