// Rows of the steps of NAdam, RAdam, Adamax, Adadelta, ASGD and Rprop, and of the interpolation,
// the norm and the clipping of lists of tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/hearth.h"
#include "hearth/threads.h"
#include "tests/ops/optim_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// Updates the moments of one element; x: parameter, gradient, both moments.
void update_moments(double* x, double g) {
  x[2] = kBeta1 * x[2] + (1 - kBeta1) * g;
  x[3] = kBeta2 * x[3] + (1 - kBeta2) * g * g;
}

Row nadam_row(std::string name, bool decoupled) {
  constexpr double kProduct = 0.2, kPsi = 0.1;
  return step_row(
      std::move(name), "_fused_nadam_",
      {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kPositive},
      [=](Lists& x) {
        _fused_nadam_(x[0], x[1], x[2], x[3], kStep, kProduct, kLr, kBeta1, kBeta2, kDecay, kPsi,
                      kEps, decoupled, true);
      },
      [=](double* x) {
        const double g = -x[1] + (decoupled ? 0 : kDecay * x[0]);
        if (decoupled) x[0] *= 1 - kLr * kDecay;
        update_moments(x, g);
        const auto mu = [](double t) { return kBeta1 * (1 - 0.5 * std::pow(0.96, t * kPsi)); };
        const double root = std::sqrt(x[3] / (1 - std::pow(kBeta2, kStep))) + kEps;
        x[0] -= kLr * (1 - mu(kStep)) / (1 - kProduct) * g / root;
        x[0] -= kLr * mu(kStep + 1) / (1 - kProduct * mu(kStep + 1)) * x[2] / root;
      });
}

/// `step` decides whether the variance is rectified (with beta2 = 0.9 from step 6 on) and whether
/// the weight decay is decoupled.
Row radam_row(std::string name, int64_t step) {
  return step_row(
      std::move(name), "_fused_radam_",
      {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kPositive},
      [=](Lists& x) {
        _fused_radam_(x[0], x[1], x[2], x[3], step, kLr, kBeta1, kBeta2, kDecay, kEps, step > 5,
                      false);
      },
      [=](double* x) {
        const double t = double(step), power = std::pow(kBeta2, t), longest = 2 / (1 - kBeta2) - 1;
        const double g = x[1] + (step > 5 ? 0 : kDecay * x[0]);
        if (step > 5) x[0] *= 1 - kLr * kDecay;
        update_moments(x, g);
        const double mean = x[2] / (1 - std::pow(kBeta1, t));
        const double length = longest - 2 * t * power / (1 - power);
        const double rectified = std::sqrt((length - 4) * (length - 2) * longest /
                                           ((longest - 4) * (longest - 2) * length));
        x[0] -= kLr * mean *
                (length > 5 ? rectified * std::sqrt(1 - power) / (std::sqrt(x[3]) + kEps) : 1);
      });
}

Row adamax_row() {
  return step_row(
      "fused_adamax", "_fused_adamax_",
      {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kPositive},
      [](Lists& x) {
        _fused_adamax_(x[0], x[1], x[2], x[3], kStep, kLr, kBeta1, kBeta2, kDecay, kEps, true);
      },
      [](double* x) {
        const double g = -x[1] + kDecay * x[0];
        x[2] = kBeta1 * x[2] + (1 - kBeta1) * g;
        x[3] = std::fmax(kBeta2 * x[3], std::fabs(g) + kEps);
        x[0] -= kLr / (1 - std::pow(kBeta1, kStep)) * x[2] / x[3];
      });
}

Row adadelta_row() {
  constexpr double kRho = 0.8;
  return step_row(
      "fused_adadelta", "_fused_adadelta_",
      {Draw::kNormal, Draw::kNormal, Draw::kPositive, Draw::kPositive},
      [](Lists& x) { _fused_adadelta_(x[0], x[1], x[2], x[3], kLr, kRho, kEps, kDecay, false); },
      [](double* x) {
        const double g = x[1] + kDecay * x[0];
        x[2] = kRho * x[2] + (1 - kRho) * g * g;
        const double delta = std::sqrt((x[3] + kEps) / (x[2] + kEps)) * g;
        x[3] = kRho * x[3] + (1 - kRho) * delta * delta;
        x[0] -= kLr * delta;
      });
}

Row asgd_row(std::string name, double mu) {
  return step_row(
      std::move(name), "_fused_asgd_", {Draw::kNormal, Draw::kNormal, Draw::kNormal},
      [=](Lists& x) { _fused_asgd_(x[0], x[1], x[2], 0.2, kLr, mu, kDecay, false); },
      [=](double* x) {
        const double g = x[1] + kDecay * x[0];
        x[0] = x[0] * (1 - 0.2 * kLr) - kLr * g;
        x[2] += mu * (x[0] - x[2]);
      });
}

Row rprop_row() {
  return step_row(
      "fused_rprop", "_fused_rprop_", {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kUnit},
      [](Lists& x) { _fused_rprop_(x[0], x[1], x[2], x[3], 0.5, 1.2, 0.1, 0.9, false); },
      [](double* x) {
        const double product = x[1] * x[2];
        x[3] *= product > 0 ? 1.2 : product < 0 ? 0.5 : 1;
        x[3] = std::fmin(std::fmax(x[3], 0.1), 0.9);
        x[2] = product < 0 ? 0 : x[1];
        if (x[2] != 0) x[0] -= std::copysign(x[3], x[2]);
      });
}

Row lerp_row(std::string name, double weight) {
  return step_row(
      std::move(name), "_foreach_lerp_", {Draw::kNormal, Draw::kNormal},
      [=](Lists& x) { _foreach_lerp_(x[0], x[1], weight); },
      [=](double* x) { x[0] += weight * (x[1] - x[0]); });
}

/// A row for the norm of a list of one or several tensors.
Row norm_row(std::string name, double ord) {
  Row row;
  row.name = std::move(name);
  row.covers = {"_fused_total_norm"};
  row.cases = {{{{3, 5}, Draw::kNormal}},
               {{{7}, Draw::kNormal}, {{}, Draw::kNormal}, {{2, 1, 4}, Draw::kNormal}}};
  row.call = [ord](const Tensors& in) { return Tensors{_fused_total_norm(in, ord)}; };
  row.reference = [ord](const Arrays& in) {
    double sum = 0, largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (const Array& array : in)
      for (const double x : array.values) {
        sum += ord == 0 ? double(x != 0) : std::pow(std::fabs(x), ord);
        largest = std::fmax(largest, std::fabs(x));
        smallest = std::fmin(smallest, std::fabs(x));
      }
    const double norm = std::isinf(ord) ? (ord > 0 ? largest : smallest)
                                        : (ord == 0 ? sum : std::pow(sum, 1 / ord));
    return Arrays{Array{{}, {norm}}};
  };
  row.orders = 0;
  row.slack = 8;
  return row;
}

/// A row for clipping by a given norm, which is a tensor on the lists' device.
Row clip_row() {
  Row row = step_row(
      "fused_clip", "_fused_clip_", {Draw::kNormal, Draw::kNormal},
      [](Lists& x) {
        const Tensor norm = full({}, 4.0, TensorOptions(x[0][0].scalar_type()));
        Tensors tensors = x[0];
        tensors.insert(tensors.end(), x[1].begin(), x[1].end());
        _fused_clip_(tensors, norm.to(x[0][0].device()), 1);
      },
      [](double* x) { x[0] *= 1 / (4 + 1e-6); });
  const Tensor one = ones({2});
  row.refusals = {
      {[=] { _fused_clip_({one}, ones({2}), 1); },
       "total_norm must be a tensor of one floating point number, got sizes [2]"},
      {[=] { _fused_clip_({one}, ones({}, kLong), 1); },
       "total_norm must be a tensor of one floating point number, got sizes [] of Long"},
      {[=] { _fused_total_norm({}); }, "expected a non-empty list"},
      {[=] {
         _fused_total_norm({one, ones({2}, kDouble)});
       },
       "tensors must have the same dtype, got Float and Double"},
      {[=] { _fused_total_norm({ones({2}, kLong)}); }, "not implemented for 'Long'"},
      {[=] {
         _fused_total_norm({one, ones({0})}, INFINITY);
       },
       "cannot compute the inf norm on an empty tensor"},
      {[=] { _foreach_lerp_({one}, {}, 0.5); },
       "Tensor lists must have the same number of tensors, got 1 and 0"}};
  return row;
}

const Register registered_optim_adaptive[] = {Register(nadam_row("fused_nadam", false)),
                                              Register(nadam_row("fused_nadam_decoupled", true)),
                                              Register(radam_row("fused_radam_early", 3)),
                                              Register(radam_row("fused_radam", 9)),
                                              Register(adamax_row()),
                                              Register(adadelta_row()),
                                              Register(asgd_row("fused_asgd", 0.25)),
                                              Register(asgd_row("fused_asgd_copy", 1)),
                                              Register(rprop_row()),
                                              Register(lerp_row("foreach_lerp", 0.25)),
                                              Register(lerp_row("foreach_lerp_far", 0.75)),
                                              Register(norm_row("fused_total_norm", 2)),
                                              Register(norm_row("fused_total_norm_0", 0)),
                                              Register(norm_row("fused_total_norm_1", 1)),
                                              Register(norm_row("fused_total_norm_3", 3)),
                                              Register(norm_row("fused_total_norm_max", INFINITY)),
                                              Register(norm_row("fused_total_norm_min", -INFINITY)),
                                              Register(clip_row())};

/// Tensors of very different sizes, many of them small.
Tensors uneven(ScalarType dtype, Device device) {
  Tensors list;
  for (const int64_t size : {70'001, 1, 8192, 0, 3, 8193, 30'000})
    list.push_back(randn({size}).to(device, dtype));
  for (int64_t i = 0; i < 1500; ++i) list.push_back(randn({i % 7 + 1}).to(device, dtype));
  return list;
}

TEST(TotalNorm, CountsAllElementsOnAnyNumberOfThreads) {
  const int threads = get_num_threads();
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensors list = uneven(dtype, device);
      Tensors flat;
      for (const Tensor& tensor : list) flat.push_back(tensor.reshape(-1).to(kCPU, kDouble));
      const double wanted = cat(flat).norm().item<double>();
      set_num_threads(1);
      const Tensor on_one_thread = _fused_total_norm(list);
      set_num_threads(3);
      const Tensor on_three = _fused_total_norm(list);
      EXPECT_EQ(on_one_thread.scalar_type(), dtype);
      EXPECT_TRUE(on_one_thread.equal(on_three)) << device.str() << name_of(dtype);
      const double tolerance = dtype == kDouble ? 1e-14 : dtype == kFloat ? 1e-6 : 1e-2;
      EXPECT_NEAR(on_one_thread.item<double>() / wanted, 1, tolerance)
          << device.str() << name_of(dtype);
    }
  set_num_threads(threads);
}

TEST(TotalNorm, OfStridedEmptyAndNanTensors) {
  for (const Device device : devices()) {
    const Tensor base = arange(12, kFloat).reshape({3, 4}).to(device);
    EXPECT_EQ(_fused_total_norm({base.slice(1, 0, 4, 2), base.t()}, 1).item<float>(), 30 + 66);
    EXPECT_EQ(_fused_total_norm({ones({1}).to(device).expand({9})}).item<float>(), 3);
    EXPECT_EQ(_fused_total_norm({zeros({0, 2}).to(device)}).item<float>(), 0);
  }
  const Tensor values = tensor({1.f, NAN});
  EXPECT_TRUE(std::isnan(_fused_total_norm({values}).item<float>()));
  EXPECT_TRUE(std::isnan(_fused_total_norm({values}, INFINITY).item<float>()));
}

}  // namespace
}  // namespace hearth::testing
