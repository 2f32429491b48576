#include "seam/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hearth/threads.h"
#include "tests/kernels/guarded.h"

namespace hearth::testing {
namespace {

using Sizes = std::vector<int64_t>;
using Doubles = std::vector<double>;

struct Case {
  Sizes sizes;
  Sizes strides;  // empty: contiguous
};

const std::vector<Case> kCases = {
    {{2, 3}, {}},
    {{257, 70}, {}},
    {{300, 5}, {}},
    {{40, 600}, {}},
    {{4, 3, 5, 7}, {}},
    {{4, 3, 5, 7}, {105, 1, 21, 3}},       // channels last
    {{3, 80, 9, 11}, {7920, 1, 880, 80}},  // channels last
    {{2, 5, 130}, {}},
    {{1, 2, 3, 50, 40}, {}},
    {{2, 3, 4, 5}, {1, 2, 30, 6}},  // permuted
    {{6, 4, 10}, {80, 10, 1}},      // sliced
    {{3, 4, 10}, {0, 10, 1}},       // expanded
    {{70, 2, 2000}, {}},
};

/// Batch statistics in double. Elements are in row-major order; each channel has `count` of them.
struct Reference {
  int64_t channels, plane_size, count;
  Doubles x, mean, var;
  int64_t channel(int64_t i) const { return i / plane_size % channels; }

  template <class T>
  explicit Reference(const Guarded<T>& in) : channels(in.view().sizes[1]), plane_size(1) {
    for (int d = 2; d < in.view().dim; ++d) plane_size *= in.view().sizes[d];
    count = in.numel() / channels;
    x.resize(size_t(in.numel()));
    for (int64_t i = 0; i < in.numel(); ++i) x[size_t(i)] = double(in[i]);
    mean = per_channel([&](int64_t i) { return x[size_t(i)]; });
    for (double& m : mean) m /= double(count);
    var = per_channel([&](int64_t i) { return std::pow(deviation(i), 2); });
    for (double& v : var) v /= double(count);
  }
  double deviation(int64_t i) const { return x[size_t(i)] - mean[size_t(channel(i))]; }
  template <class F>
  Doubles per_channel(const F& f) const {
    Doubles result(size_t(channels), 0);
    for (int64_t i = 0; i < int64_t(x.size()); ++i) result[size_t(channel(i))] += f(i);
    return result;
  }
};

/// Normal numbers around `mean_step` times the element's index modulo 3.
template <class T>
void fill(Guarded<T>& x, unsigned seed, double mean_step = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < x.numel(); ++i)
    x[i] = T(float(mean_step) * float(i % 3) + normal(random));
}

template <class T>
Doubles values_of(const Guarded<T>& x) {
  Doubles result;
  for (int64_t i = 0; i < x.numel(); ++i) result.push_back(double(x[i]));
  return result;
}

template <class T>
constexpr double tolerance = std::is_same_v<T, double>  ? 1e-12
                             : std::is_same_v<T, float> ? 2e-6
                             : std::is_same_v<T, Half>  ? 2e-3
                                                        : 1.6e-2;

template <class T>
void expect_near(const Guarded<T>& got, const Doubles& expected, const char* name,
                 double scale = 1) {
  for (int64_t i = 0; i < got.numel(); ++i) {
    const double e = expected[size_t(i)];
    ASSERT_NEAR(double(got[i]), e, tolerance<T> * (scale + std::fabs(e))) << name << ' ' << i;
  }
  ASSERT_TRUE(got.intact()) << name;
}

/// The per-channel tensors of one case, in type P.
template <class P>
struct Channels {
  Guarded<P> weight, bias, running_mean, running_var, save_mean, save_invstd, grad_weight,
      grad_bias;
  explicit Channels(int64_t n)
      : weight({n}),
        bias({n}),
        running_mean({n}, {2}),
        running_var({n}),
        save_mean({n}),
        save_invstd({n}),
        grad_weight({n}),
        grad_bias({n}, {3}) {
    fill(weight, 7);
    fill(bias, 8);
    fill(running_mean, 9);
    for (int64_t c = 0; c < n; ++c) running_var[c] = P(0.5f + float(c % 5));
  }
};

template <class T, class P>
void check_forward(const Case& c, bool training) {
  Guarded<T> in(c.sizes, c.strides), out(c.sizes);
  fill(in, 1);
  const Reference ref(in);
  const int64_t n = ref.channels;
  Channels<P> p(n);
  const Doubles old_mean = values_of(p.running_mean), old_var = values_of(p.running_var);
  run_on_cpu(BatchNormParams{in.view(), out.view(), p.weight.view(), p.bias.view(),
                             p.running_mean.view(), p.running_var.view(), p.save_mean.view(),
                             p.save_invstd.view(), training, 0.3, 1e-3});
  const Doubles& mean = training ? ref.mean : old_mean;
  const Doubles& var = training ? ref.var : old_var;
  Doubles expected, invstd, new_mean = old_mean, new_var = old_var;
  for (size_t k = 0; k < size_t(n); ++k) invstd.push_back(1 / std::sqrt(var[k] + 1e-3));
  for (int64_t i = 0; i < in.numel(); ++i) {
    const size_t k = size_t(ref.channel(i));
    expected.push_back((ref.x[size_t(i)] - mean[k]) * invstd[k] * double(p.weight[int64_t(k)]) +
                       double(p.bias[int64_t(k)]));
  }
  expect_near(out, expected, "out", 10);
  if (training) {
    const double count = double(ref.count);
    for (size_t k = 0; k < size_t(n); ++k) {
      new_mean[k] = 0.7 * old_mean[k] + 0.3 * mean[k];
      new_var[k] = 0.7 * old_var[k] + 0.3 * var[k] * count / (count - 1);
    }
    expect_near(p.save_mean, mean, "save_mean");
    expect_near(p.save_invstd, invstd, "save_invstd");
  }
  expect_near(p.running_mean, new_mean, "running_mean");
  expect_near(p.running_var, new_var, "running_var");
}

template <class T, class P>
void check_backward(const Case& c, bool training) {
  Guarded<T> in(c.sizes, c.strides), grad_out(c.sizes), grad_in(c.sizes);
  fill(in, 1);
  fill(grad_out, 2, 0);
  const Reference ref(in);
  Channels<P> p(ref.channels);
  Doubles mean = training ? ref.mean : values_of(p.running_mean), invstd;
  for (size_t k = 0; k < size_t(ref.channels); ++k) {
    invstd.push_back(1 /
                     std::sqrt((training ? ref.var[k] : double(p.running_var[int64_t(k)])) + 1e-3));
    p.save_mean[int64_t(k)] = P(float(mean[k]));
    p.save_invstd[int64_t(k)] = P(float(invstd[k]));
    // The kernel reads the saved numbers, which are rounded to P.
    mean[k] = training ? double(p.save_mean[int64_t(k)]) : mean[k];
    invstd[k] = training ? double(p.save_invstd[int64_t(k)]) : invstd[k];
  }
  run_on_cpu(BatchNormBackwardParams{grad_out.view(), in.view(), p.weight.view(),
                                     p.running_mean.view(), p.running_var.view(),
                                     p.save_mean.view(), p.save_invstd.view(), grad_in.view(),
                                     p.grad_weight.view(), p.grad_bias.view(), training, 1e-3});
  const auto g = [&](int64_t i) { return double(grad_out[i]); };
  const auto normalised = [&](int64_t i) {
    const size_t k = size_t(ref.channel(i));
    return (ref.x[size_t(i)] - mean[k]) * invstd[k];
  };
  const Doubles grad_bias = ref.per_channel(g);
  const Doubles grad_weight = ref.per_channel([&](int64_t i) { return g(i) * normalised(i); });
  Doubles expected;
  for (int64_t i = 0; i < in.numel(); ++i) {
    const size_t k = size_t(ref.channel(i));
    const double through_stats =
        (grad_bias[k] + normalised(i) * grad_weight[k]) / double(ref.count);
    expected.push_back(double(p.weight[int64_t(k)]) * invstd[k] *
                       (g(i) - (training ? through_stats : 0)));
  }
  expect_near(grad_in, expected, "grad_in", 10);
  expect_near(p.grad_bias, grad_bias, "grad_bias", 10);
  expect_near(p.grad_weight, grad_weight, "grad_weight", 10);
}

template <class T, class P>
void check() {
  for (const Case& c : kCases)
    for (const bool training : {true, false}) {
      SCOPED_TRACE(::testing::Message()
                   << "case " << &c - kCases.data() << ", training " << training);
      check_forward<T, P>(c, training);
      check_backward<T, P>(c, training);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(BatchNorm, MatchesReferenceInFloat) { check<float, float>(); }
TEST(BatchNorm, MatchesReferenceInDouble) { check<double, double>(); }
TEST(BatchNorm, MatchesReferenceInHalfWithFloatChannels) { check<Half, float>(); }
TEST(BatchNorm, MatchesReferenceInBFloat16WithFloatChannels) { check<BFloat16, float>(); }
TEST(BatchNorm, MatchesReferenceInBFloat16) { check<BFloat16, BFloat16>(); }

TEST(BatchNorm, ChannelsLastAndContiguousOutputsAreEqual) {
  const Sizes sizes = {4, 3, 5, 7}, strides = {105, 1, 21, 3};
  Guarded<float> in(sizes, strides), out(sizes, strides), other(sizes);
  fill(in, 1);
  run_on_cpu(BatchNormParams{.in = in.view(), .out = out.view()});
  run_on_cpu(BatchNormParams{.in = in.view(), .out = other.view()});
  for (int64_t i = 0; i < in.numel(); ++i) EXPECT_EQ(out[i], other[i]);
  EXPECT_TRUE(out.intact());
}

TEST(BatchNorm, SupportsMissingOptionalTensors) {
  Guarded<float> in({8, 2, 9}), out({8, 2, 9}), grad_in({8, 2, 9}), mean({2}), invstd({2});
  fill(in, 1);
  run_on_cpu(BatchNormParams{
      .in = in.view(), .out = out.view(), .save_mean = mean.view(), .save_invstd = invstd.view()});
  const Reference ref(in);
  for (int64_t i = 0; i < in.numel(); ++i) {
    const size_t k = size_t(ref.channel(i));
    EXPECT_NEAR(out[i], ref.deviation(i) / std::sqrt(ref.var[k] + 1e-5), 1e-5);
  }
  // The gradient of a sum of normalised numbers is zero.
  for (int64_t i = 0; i < out.numel(); ++i) out[i] = 1;
  run_on_cpu(BatchNormBackwardParams{.grad_out = out.view(),
                                     .in = in.view(),
                                     .save_mean = mean.view(),
                                     .save_invstd = invstd.view(),
                                     .grad_in = grad_in.view()});
  for (int64_t i = 0; i < in.numel(); ++i) EXPECT_NEAR(grad_in[i], 0, 1e-6);
}

TEST(BatchNorm, VarianceIsAccurateForLargeMeans) {
  Guarded<float> in({64, 2, 100}), out({64, 2, 100}), mean({2}), invstd({2});
  std::mt19937 random(1);
  for (int64_t i = 0; i < in.numel(); ++i) in[i] = 10000 + float(random() % 1000) / 256;
  run_on_cpu(BatchNormParams{
      .in = in.view(), .out = out.view(), .save_mean = mean.view(), .save_invstd = invstd.view()});
  const Reference ref(in);
  for (int64_t c = 0; c < 2; ++c)
    EXPECT_NEAR(invstd[c] * std::sqrt(ref.var[size_t(c)] + 1e-5), 1, 1e-6);
}

TEST(BatchNorm, EvaluationGradientsIgnoreInfiniteInputs) {
  Guarded<float> in({2, 1}), grad_out({2, 1}), grad_in({2, 1}), mean({1}), var({1});
  in[0] = std::numeric_limits<float>::infinity();
  in[1] = 0;
  mean[0] = 0;
  var[0] = 1;
  grad_out[0] = grad_out[1] = 3;
  run_on_cpu(BatchNormBackwardParams{.grad_out = grad_out.view(),
                                     .in = in.view(),
                                     .running_mean = mean.view(),
                                     .running_var = var.view(),
                                     .grad_in = grad_in.view(),
                                     .training = false,
                                     .eps = 0});
  EXPECT_EQ(grad_in[0], 3);
  EXPECT_EQ(grad_in[1], 3);
}

TEST(BatchNorm, EmptyBatchGradientsAreZero) {
  Guarded<float> in({0, 3, 4}), out({0, 3, 4}), mean({3}), invstd({3}), grad_weight({3}),
      grad_bias({3});
  run_on_cpu(BatchNormParams{.in = in.view(), .out = out.view()});
  for (int64_t c = 0; c < 3; ++c) mean[c] = invstd[c] = 1;
  run_on_cpu(BatchNormBackwardParams{.grad_out = out.view(),
                                     .in = in.view(),
                                     .save_mean = mean.view(),
                                     .save_invstd = invstd.view(),
                                     .grad_in = in.view(),
                                     .grad_weight = grad_weight.view(),
                                     .grad_bias = grad_bias.view()});
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(grad_weight[c], 0);
    EXPECT_EQ(grad_bias[c], 0);
  }
}

TEST(BatchNorm, ResultsDoNotDependOnThreadCount) {
  const int former = get_num_threads();
  for (const Case& c : {Case{{20, 6, 5000}, {}}, Case{{20, 6, 5000}, {30000, 1, 6}}}) {
    Guarded<float> in(c.sizes, c.strides), on_one_thread(c.sizes), on_several(c.sizes);
    fill(in, 4);
    set_num_threads(1);
    run_on_cpu(BatchNormParams{.in = in.view(), .out = on_one_thread.view()});
    set_num_threads(5);
    run_on_cpu(BatchNormParams{.in = in.view(), .out = on_several.view()});
    for (int64_t i = 0; i < in.numel(); ++i) ASSERT_EQ(on_one_thread[i], on_several[i]);
  }
  set_num_threads(former);
}

}  // namespace
}  // namespace hearth::testing
