// Arithmetic of kernels that are written for SIMD registers, compared with plain loops.
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

namespace {

using Floats = at::vec::Vectorized<float>;

TEST(Vectorized, LoadsComputesAndStores) {
  std::vector<float> in(Floats::size() + 3), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0.25F * static_cast<float>(i) - 1;
  const auto tail = static_cast<int>(in.size()) - Floats::size();
  const auto f = [](Floats x) { return at::vec::fmadd(x, x, Floats(1)) / (x.abs() + Floats(2)); };
  f(Floats::loadu(in.data())).store(out.data());
  f(Floats::loadu(in.data() + Floats::size(), tail)).store(out.data() + Floats::size(), tail);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_NEAR(out[i], (in[i] * in[i] + 1) / (std::abs(in[i]) + 2), 1e-6);
}

TEST(Vectorized, ComparesAndSelects) {
  const Floats x = Floats::arange(-2.0F, 1.0F);
  const Floats relu = Floats::blendv(Floats(0), x, x > Floats(0));
  float values[Floats::size()], positive[Floats::size()];
  relu.store(values);
  x.gt(Floats(0)).store(positive);
  for (int i = 0; i < Floats::size(); ++i) {
    EXPECT_EQ(values[i], i > 2 ? static_cast<float>(i - 2) : 0);
    EXPECT_EQ(positive[i], i > 2 ? 1 : 0);
  }
  at::vec::maximum(Floats(NAN), Floats(1)).store(values);
  EXPECT_TRUE(std::isnan(values[0]));
  at::vec::clamp(Floats(5), Floats(0), Floats(1)).store(values);
  EXPECT_EQ(values[1], 1);
}

TEST(Vectorized, LoopsOverArrays) {
  for (const int64_t size : {1, 7, 8, 21}) {
    std::vector<double> a(size_t(size), 0.5), b(size_t(size), 0.0), out(size_t(size), 0.0);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i);
    at::vec::map2([](auto x, auto y) { return x * y; }, out.data(), a.data(), b.data(), size);
    EXPECT_EQ(out.back(), 0.5 * static_cast<double>(size - 1));
    const auto sum = [](auto x, auto y) { return x + y; };
    EXPECT_EQ(at::vec::reduce_all(sum, b.data(), size), static_cast<double>(size * (size - 1)) / 2);
    at::vec::map([](auto x) { return x.exp(); }, out.data(), b.data(), size);
    EXPECT_NEAR(out.back(), std::exp(b.back()), 1e-9 * std::exp(b.back()));
  }
  const Floats x = Floats::arange(1.0F, 1.0F);
  EXPECT_EQ(at::vec::vec_reduce_all([](Floats& u, Floats& v) { return u + v; }, x, 3), 6);
}

TEST(Vectorized, HalfNumbersAreComputedInFloat) {
  std::vector<at::BFloat16> in(5, at::BFloat16(1.5F)), out(5);
  at::vec::map([](Floats x) { return x * Floats(2); }, out.data(), in.data(), 5);
  EXPECT_EQ(static_cast<float>(out[4]), 3);
}

}  // namespace
