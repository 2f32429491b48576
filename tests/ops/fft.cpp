// Fourier transforms against their definition.
#include "hearth/fft.h"

#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/parallel_for.h"
#include "hearth/stream.h"
#include "hearth/threads.h"
#include "kernels/cpu/fft_plan.h"
#include "tests/ops/complex_rows.h"
#include "tests/ops/fft_reference.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Signal signal_of(const Arrays& in) {
  Signal x{in[0].sizes, {}};
  for (size_t i = 0; i < in[0].values.size(); ++i)
    x.values.emplace_back(in[0].values[i], in.size() > 1 ? in[1].values[i] : 0);
  return x;
}

Arrays parts_of(const Signal& y, bool real_result) {
  Array re{y.sizes, {}}, im{y.sizes, {}};
  for (const C& value : y.values) {
    re.values.push_back(value.real());
    im.values.push_back(value.imag());
  }
  return real_result ? Arrays{re} : Arrays{re, im};
}

using LineCall = Tensor (*)(const Tensor&, std::optional<int64_t>, int64_t,
                            std::optional<std::string_view>);
/// A function's name and its kind of transform; dims, sizes and norm are those of each row.
struct Function {
  const char* name;
  Sides sides;
  bool forward;
};

Row fft_row(const Function& f, const std::string& suffix, const std::vector<int64_t>& sizes,
            const Transform& t, bool real_input, std::function<Tensor(const Tensor&)> call) {
  Row row;
  row.name = std::string("fft_") + f.name + suffix;
  row.covers = {std::string("fft_") + f.name, f.sides == Sides::kToReal ? "_fft_c2r"
                                              : real_input              ? "_fft_r2c"
                                                                        : "_fft_c2c"};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 16;
  row.gradient_slack = 16;
  row.cases = {Case(real_input ? 1 : 2, Input{sizes})};
  row.call = [=](const Tensors& in) { return parted(call(real_input ? in[0] : joined(in)[0])); };
  row.reference = [=](const Arrays& in) {
    return parts_of(transformed(t, signal_of(in)), t.sides == Sides::kToReal);
  };
  return row;
}

/// Lines of several lengths along several dimensions, cut and padded, with all norms.
void add_line_rows(const Function& f, LineCall call) {
  struct Parameters {
    const char* suffix;
    std::vector<int64_t> sizes;
    std::optional<int64_t> n;
    int64_t dim;
    const char* norm;
  };
  const Parameters all[] = {{"", {3, 4}, {}, -1, "backward"},
                            {"_odd", {2, 5, 2}, {}, 1, "forward"},
                            {"_cut", {7, 2}, 6, 0, "ortho"},
                            {"_padded", {2, 3}, 17, -1, "forward"}};
  for (const Parameters& p : all)
    for (const bool real_input : {false, true}) {
      if (real_input ? f.sides == Sides::kToReal : f.sides == Sides::kFromReal) continue;
      Transform t{f.sides, f.forward, {p.dim}, {}, p.norm};
      if (p.n) t.sizes = {*p.n};
      const auto n = p.n;
      const auto dim = p.dim;
      const char* const norm = p.norm;
      Register(fft_row(f, std::string(p.suffix) + (real_input ? "_real" : ""), p.sizes, t,
                       real_input, [=](const Tensor& x) { return call(x, n, dim, norm); }));
    }
}

using PlaneCall = Tensor (*)(const Tensor&, OptionalIntArrayRef, IntArrayRef,
                             std::optional<std::string_view>);
using VolumeCall = Tensor (*)(const Tensor&, OptionalIntArrayRef, OptionalIntArrayRef,
                              std::optional<std::string_view>);

template <class Call>
void add_dims_rows(const Function& f, Call call) {
  for (const bool real_input : {false, true}) {
    if (real_input ? f.sides == Sides::kToReal : f.sides == Sides::kFromReal) continue;
    const std::string suffix = real_input ? "_real" : "";
    Register(fft_row(f, suffix, {2, 3, 4}, {f.sides, f.forward, {-2, -1}}, real_input,
                     [=](const Tensor& x) {
                       return call(x, {}, {-2, -1}, std::nullopt);
                     }));
    Register(fft_row(f, "_sizes" + suffix, {3, 2, 5}, {f.sides, f.forward, {2, 0}, {3, 4}, "ortho"},
                     real_input, [=](const Tensor& x) {
                       return call(x, {3, 4}, {2, 0}, "ortho");
                     }));
  }
}

bool add_rows() {
  const auto line = [](const char* name, Sides sides, bool forward, LineCall call) {
    add_line_rows({name, sides, forward}, call);
  };
  line("fft", Sides::kComplex, true, fft_fft);
  line("ifft", Sides::kComplex, false, fft_ifft);
  line("rfft", Sides::kFromReal, true, fft_rfft);
  line("irfft", Sides::kToReal, false, fft_irfft);
  line("hfft", Sides::kToReal, true, fft_hfft);
  line("ihfft", Sides::kFromReal, false, fft_ihfft);
  const auto dims = [](const char* name, Sides sides, bool forward, PlaneCall plane,
                       VolumeCall volume) {
    add_dims_rows({(std::string(name) + "2").c_str(), sides, forward}, plane);
    add_dims_rows({(std::string(name) + "n").c_str(), sides, forward}, volume);
  };
  dims("fft", Sides::kComplex, true, fft_fft2, fft_fftn);
  dims("ifft", Sides::kComplex, false, fft_ifft2, fft_ifftn);
  dims("rfft", Sides::kFromReal, true, fft_rfft2, fft_rfftn);
  dims("irfft", Sides::kToReal, false, fft_irfft2, fft_irfftn);
  dims("hfft", Sides::kToReal, true, fft_hfft2, fft_hfftn);
  dims("ihfft", Sides::kFromReal, false, fft_ihfft2, fft_ihfftn);
  return true;
}
const bool added = add_rows();

/// The largest error of a transform of [batch, n, inner] along dimension 1, divided by the largest
/// absolute value of the result.
double error_of_lines(const Transform& t, int64_t batch, int64_t n, int64_t inner, ScalarType dtype,
                      Device device) {
  const bool from_real = t.sides == Sides::kFromReal, to_real = t.sides == Sides::kToReal;
  manual_seed(uint64_t(n));
  const std::vector<int64_t> sizes{batch, to_real ? n / 2 + 1 : n, inner};
  const Tensor re = randn(sizes, kDouble), im = randn(sizes, kDouble);
  Tensor x = (from_real ? re : make_complex(re, im)).to(device);
  if (dtype == kFloat) x = x.to(from_real ? kFloat : kComplexFloat);
  const Tensor y = from_real ? fft::rfft(x, n, 1)
                   : to_real ? fft::irfft(x, n, 1)
                             : fft::fft(x, n, 1);
  Arrays parts{to_array(re)};
  if (!from_real) parts.push_back(to_array(im));
  Transform lines = t;
  lines.dims = {1};
  if (to_real) lines.sizes = {n};
  const Arrays wanted = parts_of(transformed(lines, signal_of(parts)), to_real);
  const Arrays got = arrays_of(parted(y));
  double error = 0, largest = 0;
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t i = 0; i < wanted[k].values.size(); ++i) {
      error = std::fmax(error, std::fabs(got[k].values[i] - wanted[k].values[i]));
      largest = std::fmax(largest, std::fabs(wanted[k].values[i]));
      if (std::isnan(got[k].values[i])) return INFINITY;
    }
  return error / largest;
}

/// All lengths up to 64, lengths with large prime factors, and long ones. Each is tested with one
/// line, and most with more lines than a vector has lanes, contiguous or interleaved, so that the
/// last vector is not full.
TEST(Fft, Lengths) {
  std::vector<int64_t> lengths{97, 101, 128, 169, 256, 289, 1000, 1009, 1024, 2018};
  for (int64_t n = 1; n <= 64; ++n) lengths.push_back(n);
  const Transform kinds[] = {
      {Sides::kComplex, true}, {Sides::kFromReal, true}, {Sides::kToReal, false}};
  for (const Device device : devices()) {
    if (is_real_gpu(device)) continue;
    for (const int64_t n : lengths)
      for (const auto& [batch, inner] : {std::pair<int64_t, int64_t>{1, 1}, {19, 1}, {1, 17}}) {
        if (n > 300 && batch * inner > 1 && n != 1009) continue;
        for (const Transform& t : kinds)
          for (const ScalarType dtype : {kFloat, kDouble})
            EXPECT_LT(error_of_lines(t, batch, n, inner, dtype, device),
                      dtype == kFloat ? 2e-6 : 5e-14)
                << n << " of " << int(t.sides) << ", " << batch << " x " << inner << " " << dtype;
      }
  }
}

/// Several threads use more plans than the cache holds, so plans are dropped and made again.
TEST(Fft, ManyPlans) {
  parallel_for(0, 4, 1, [](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t n = 64; n < 200; ++n) {
        const Tensor x = ones({n}, kComplexDouble);
        const Tensor y = view_as_real(fft::fft(x));
        EXPECT_NEAR(y.select(0, 0).select(0, 0).item<double>(), double(n), 1e-10);
        EXPECT_LT(y.slice(0, 1).abs().max().item<double>(), 1e-10) << n;
      }
  });
}

/// The bits do not depend on the number of threads.
TEST(Fft, Threads) {
  const int threads = get_num_threads();
  manual_seed(3);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {130, 100}, {1 << 15}, {3, 20011}, {65, 64, 3}, {2, 40000}}) {
    const Tensor x = randn(sizes);
    std::vector<Tensor> results[2];
    for (const int count : {1, 3}) {
      set_num_threads(count);
      const Tensor half = fft::rfft(x, {}, sizes.size() == 3 ? 1 : -1);
      results[count > 1] = {half, fft::fftn(x), fft::irfft(half)};
    }
    for (size_t i = 0; i < results[0].size(); ++i)
      EXPECT_TRUE(results[0][i].equal(results[1][i])) << IntArrayRef(sizes) << " " << i;
  }
  set_num_threads(threads);
}

/// Some frequencies of long lines by their definition, and the inverse transform.
TEST(Fft, LongLines) {
  manual_seed(5);
  for (const int64_t n : {int64_t(1) << 17, int64_t(100003), int64_t(30030), int64_t(65537 * 2)}) {
    const Tensor x = randn({n}, kDouble);
    const Tensor spectrum = fft::rfft(x);
    EXPECT_LT(fft::irfft(spectrum, n).sub(x).abs().max().item<double>(), 1e-11) << n;
    const Tensor parts = view_as_real(spectrum);
    for (const int64_t k : {int64_t(0), int64_t(1), n / 3, n / 2}) {
      const Tensor angle =
          arange(n, kLong).mul(k).remainder(n).to(kDouble).mul(-2 * M_PI / double(n));
      EXPECT_NEAR(parts.select(0, k).select(0, 0).item<double>(),
                  x.mul(angle.cos()).sum().item<double>(), 1e-8);
      EXPECT_NEAR(parts.select(0, k).select(0, 1).item<double>(),
                  x.mul(angle.sin()).sum().item<double>(), 1e-8);
    }
  }
}

/// Inputs of other dtypes, and gradients of real inputs.
TEST(Fft, Dtypes) {
  EXPECT_EQ(fft::fft(ones({4}, kLong)).scalar_type(), kComplexFloat);
  EXPECT_EQ(fft::rfft(ones({4}, kBool)).scalar_type(), kComplexFloat);
  EXPECT_EQ(fft::irfft(ones({4}, kDouble)).scalar_type(), kDouble);
  EXPECT_EQ(fft::hfft(ones({4}, kInt)).scalar_type(), kFloat);
  EXPECT_EQ(fft::fftn(ones({4}, kDouble), {}, IntArrayRef()).scalar_type(), kComplexDouble);
  Tensor x = ones({4}).requires_grad_();
  view_as_real(fft::ifft(x)).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), kFloat);
  Tensor half = ones({3}).requires_grad_();
  fft::irfft(half).sum().backward();
  EXPECT_EQ(half.grad().scalar_type(), kFloat);
  EXPECT_EQ(fft::rfft(x).grad_fn()->name(), "FftR2CBackward0");
}

TEST(Fft, OutForms) {
  manual_seed(1);
  const Tensor x = randn({3, 4});
  Tensor out = empty({0}, kComplexFloat);
  EXPECT_TRUE(fft_rfft_out(out, x, 6).equal(fft::rfft(x, 6)));
  EXPECT_TRUE(fft_fft2_out(out, x).equal(fft::fft2(x)));
  Tensor real_out = empty({0}, kDouble);
  EXPECT_TRUE(fft_irfftn_out(real_out, x).equal(fft::irfftn(x).to(kDouble)));
  EXPECT_ERROR(fft_fft_out(real_out, x), "fft expects a complex output tensor, but got Double");
  EXPECT_ERROR(fft_hfftn_out(out, x),
               "hfftn expects a floating point output tensor, but got ComplexFloat");
}

TEST(Fft, Frequencies) {
  const auto expect = [](const Tensor& t, const std::vector<double>& wanted) {
    ASSERT_EQ(t.numel(), int64_t(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(t[int64_t(i)].item<double>(), wanted[i], 1e-6);
  };
  expect(fft::fftfreq(5), {0, 0.2, 0.4, -0.4, -0.2});
  expect(fft::fftfreq(4, 0.5, kDouble), {0, 0.5, -1, -0.5});
  expect(fft::fftfreq(1), {0});
  expect(fft::rfftfreq(5, 0.5), {0, 0.4, 0.8});
  expect(fft::rfftfreq(4), {0, 0.25, 0.5});
  expect(fft::fftshift(arange(5)), {3, 4, 0, 1, 2});
  expect(fft::ifftshift(arange(5)), {2, 3, 4, 0, 1});
  expect(fft::fftshift(arange(6).view({2, 3}), 0).flatten(), {3, 4, 5, 0, 1, 2});
  EXPECT_TRUE(
      fft::ifftshift(fft::fftshift(arange(15).view({3, 5}))).equal(arange(15).view({3, 5})));
  EXPECT_TRUE(fft_fftfreq(5).equal(fft::fftfreq(5)));
  EXPECT_TRUE(fft_rfftfreq(5, 2).equal(fft::rfftfreq(5, 2.0)));
  const Tensor x = arange(15).view({3, 5});
  EXPECT_TRUE(fft_ifftshift(fft_fftshift(x, 1), 1).equal(x));
  EXPECT_ERROR(fft::fftfreq(5, kLong), "fftfreq requires a floating point or complex dtype");
  EXPECT_ERROR(fft::fftfreq(-1), "Trying to create tensor with negative dimension -1: [-1]");
  EXPECT_ERROR(fft::fftshift(ones({})), "`shifts` required");
}

TEST(Fft, Errors) {
  const Tensor x = ones({4, 6}), z = ones({4, 6}, kComplexFloat), empty_line = ones({3, 0});
  EXPECT_ERROR(fft::fft(x.to(kHalf)), "Unsupported dtype Half");
  EXPECT_ERROR(fft::rfft(z), "rfft expects a real input tensor, but got ComplexFloat");
  EXPECT_ERROR(fft::rfft2(z), "rfftn expects a real-valued input tensor, but got ComplexFloat");
  EXPECT_ERROR(fft::ihfftn(z), "Only supports floating-point dtypes, but found: ComplexFloat");
  EXPECT_ERROR(fft::fft(ones({})), "Dimension specified as -1 but tensor has no dimensions");
  EXPECT_ERROR(fft::fft(empty_line), "Invalid number of data points (0) specified");
  EXPECT_ERROR(fft::irfft(empty_line), "Invalid number of data points (-2) specified");
  EXPECT_ERROR(fft::irfft(ones({1})), "Invalid number of data points (0) specified");
  EXPECT_ERROR(fft::fft(x, -1), "Invalid number of data points (-1) specified");
  EXPECT_ERROR(fft::fft(x, {}, 2),
               "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_ERROR(fft::fft(x, {}, -1, "foo"), "Invalid normalization mode: \"foo\"");
  EXPECT_ERROR(fft::fft2(x[0]),
               "Dimension out of range (expected to be in range of [-1, 0], but got -2)");
  EXPECT_ERROR(fft::fft2(x, 3), "When given, dim and shape arguments must have the same length");
  EXPECT_ERROR(fft::fftn(x, {3, 3, 3}),
               "Got shape with 3 values but input tensor only has 2 dimensions.");
  EXPECT_ERROR(fft::fftn(x, {}, {0, -2}), "FFT dims must be unique");
  EXPECT_ERROR(fft::rfftn(ones({})), "rfftn must transform at least one axis");
  EXPECT_EQ(fft::fft(ones({0, 4})).sizes().vec(), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(fft::irfft(ones({0, 4})).sizes().vec(), (std::vector<int64_t>{0, 6}));
  EXPECT_EQ(fft::rfftn(x, {-1, 8}).sizes().vec(), (std::vector<int64_t>{4, 5}));
}

TEST(Fft, APlanLargerThanTheCacheEvictsNoOthers) {
  const auto method = cpu::FftMethod::kStages;
  const auto small = cpu::fft_plan<float>(48, method);
  const auto large = cpu::fft_plan<double>(1 << 22, method);
  EXPECT_GT(large->bytes(), size_t(32) << 20);
  EXPECT_EQ(cpu::fft_plan<double>(1 << 22, method), large);
  EXPECT_EQ(cpu::fft_plan<float>(48, method), small);
}

}  // namespace
}  // namespace hearth::testing
