// torch::fft, stft, istft and windows: calls, values and texts of LibTorch 2.15.
#include <gtest/gtest.h>
#include <torch/fft.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;
using torch::Tensor;
namespace fft = torch::fft;

Tensor sine(int64_t n) { return torch::arange(n, torch::kDouble).mul(0.7).sin(); }

void expect_flat_values(const Tensor& t, const std::vector<double>& wanted) {
  const Tensor flat = t.reshape({-1});
  ASSERT_EQ(flat.size(0), int64_t(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(flat[int64_t(i)].item<double>(), wanted[i], 1e-6) << i;
}
void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a - b).abs().max().item<double>(), 1e-9);
}
void expect_error(const std::function<void()>& call, const char* part) {
  const std::string text = text_of_error(call);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Fft, OneDimension) {
  const Tensor x = sine(5), z = fft::fft(x);
  expect_flat_values(torch::view_as_real(fft::fft(torch::tensor({1.0, 2.0, 4.0}))),
                     {7, 0, -2, 1.7320508, -2, -1.7320508});
  expect_equal(torch::real(fft::ifft(z)), x);
  expect_equal(fft::irfft(fft::rfft(x), 5), x);
  expect_equal(fft::hfft(fft::ihfft(x), 5), x);
  expect_equal(fft::rfft(x, std::nullopt, -1, "ortho"), z.slice(0, 0, 3) / std::sqrt(5));
  expect_equal(fft::fft(x, 3, 0, "forward"), fft::fft(x.slice(0, 0, 3)) / 3);
  expect_equal(torch::fft_fft(x, 8), fft::fft(torch::cat({x, torch::zeros({3}, torch::kDouble)})));
  Tensor out = torch::empty({0}, torch::kComplexDouble);
  EXPECT_TRUE(torch::fft_fft_out(out, x).is_same(out));
  expect_equal(out, z);
}

TEST(Fft, Dimensions) {
  const Tensor x = sine(24).view({2, 3, 4});
  const Tensor all = fft::fftn(x);
  expect_equal(all, fft::fft(fft::fft(fft::fft(x, {}, 0), {}, 1), {}, 2));
  expect_equal(fft::fft2(x), fft::fftn(x, std::nullopt, {{1, 2}}));
  expect_equal(torch::real(fft::ifftn(all)), x);
  expect_equal(torch::real(fft::ifft2(fft::fft2(x))), x);
  expect_equal(fft::irfftn(fft::rfftn(x)), x);
  expect_equal(fft::irfft2(fft::rfft2(x)), x);
  expect_equal(fft::hfft2(fft::ihfft2(x)), x);
  // By default, hfftn and ihfftn transform the last two dimensions.
  expect_equal(fft::hfftn(fft::ihfftn(x)), x);
  expect_equal(fft::ihfftn(x), fft::ihfft2(x));
  EXPECT_EQ(torch::fft_rfftn(x, {{4, 6}}).sizes(), (std::vector<int64_t>{2, 4, 4}));
}

TEST(Fft, Frequencies) {
  expect_flat_values(fft::fftfreq(4), {0, 0.25, -0.5, -0.25});
  expect_flat_values(fft::fftfreq(5, 0.5, torch::kDouble), {0, 0.4, 0.8, -0.8, -0.4});
  expect_flat_values(fft::rfftfreq(5, 0.5, torch::kDouble), {0, 0.4, 0.8});
  expect_flat_values(fft::fftshift(torch::arange(5)), {3, 4, 0, 1, 2});
  expect_flat_values(fft::ifftshift(torch::arange(4).view({2, 2}), {1}), {1, 0, 3, 2});
}

TEST(Fft, Gradients) {
  Tensor x = sine(6).requires_grad_();
  const Tensor energy = fft::rfft(x).abs().square().sum();
  energy.backward();
  // The energy counts the middle frequencies once, irfft counts them twice.
  const Tensor z = fft::rfft(x.detach());
  Tensor halved = z.clone();
  halved.slice(0, 1, 3).mul_(0.5);
  expect_equal(x.grad(), fft::irfft(halved, 6, -1, "forward") * 2);
  Tensor c = fft::fft(x.detach()).requires_grad_();
  torch::real(fft::ifft(c)).square().sum().backward();
  EXPECT_TRUE(c.grad().is_complex());
  EXPECT_EQ(fft::fft(c).grad_fn()->name(), "FftC2CBackward0");
}

TEST(Fft, Errors) {
  const Tensor x = torch::ones({4, 6}), z = x.to(torch::kComplexFloat);
  expect_error([&] { fft::rfft(z); }, "rfft expects a real input tensor, but got ComplexFloat");
  expect_error([&] { fft::fft(x, 0); }, "Invalid number of data points (0) specified");
  expect_error([&] { fft::fft(x, {}, -1, "foo"); }, "Invalid normalization mode: \"foo\"");
  expect_error([&] { fft::fft2(x[0]); },
               "Dimension out of range (expected to be in range of [-1, 0], but got -2)");
  expect_error([&] { fft::fftn(x, std::nullopt, {{0, -2}}); }, "FFT dims must be unique");
  expect_error(
      [&] {
        fft::fftn(x, {{1, 2, 3}});
      },
      "Got shape with 3 values but input tensor only has 2 dimensions.");
  Tensor out = torch::empty({0});
  expect_error([&] { torch::fft_fft_out(out, x); },
               "fft expects a complex output tensor, but got Float");
}

TEST(Stft, Calls) {
  const Tensor x = sine(100), window = torch::hann_window(16, torch::kDouble);
  const Tensor z = torch::stft(x, 16, 4, 16, window, /*center=*/true, "reflect",
                               /*normalized=*/false, /*onesided=*/std::nullopt,
                               /*return_complex=*/true);
  EXPECT_EQ(z.sizes(), (std::vector<int64_t>{9, 26}));
  expect_equal(torch::istft(z, 16, 4, 16, window), x);
  const Tensor plain = x.stft(16, 4, 16, window, false, std::nullopt, true);
  expect_equal(plain, z.slice(1, 2, 24));
  expect_error([&] { torch::stft(x, 16, 4, 16, window); },
               "stft requires the return_complex parameter be given for real inputs");
  expect_error([&] { x.stft(16, 0, 16, window, false, std::nullopt, true); },
               "stft(CPUDoubleType[100], n_fft=16, hop_length=0, win_length=16, "
               "window=CPUDoubleType{[16]}, normalized=0, onesided=None, return_complex=1, "
               "align_to_window=None) : expected hop_length > 0, but got hop_length=0");
  expect_error([&] { torch::istft(z, 18, 4, 16, window); },
               "expected the frequency dimension (3rd to the last) of the input tensor to match "
               "n_fft / 2 + 1 when onesided=True, but got 9");
}

TEST(Windows, Overloads) {
  expect_flat_values(torch::hann_window(4), {0, 0.5, 1, 0.5});
  expect_flat_values(torch::hann_window(3, false), {0, 1, 0});
  expect_flat_values(torch::hamming_window(4, true, 0.6, 0.4, torch::kDouble), {0.2, 0.6, 1, 0.6});
  expect_flat_values(torch::blackman_window(4, torch::kDouble), {0, 0.34, 1, 0.34});
  expect_flat_values(torch::bartlett_window(4), {0, 0.5, 1, 0.5});
  expect_flat_values(torch::kaiser_window(3, false, 2.0), {0.43867628, 1, 0.43867628});
}

}  // namespace
