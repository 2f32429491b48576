// The short-time Fourier transform against its definition and PyTorch's results.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/fft.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/complex_rows.h"
#include "tests/ops/fft_reference.h"
#include "tests/support/devices.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr int64_t kFrame = 4, kHop = 2;

/// Frames of a signal times a window, transformed: [frequencies, frames].
Arrays stft_by_hand(const Arrays& in) {
  const int64_t frames = 1 + (in[0].sizes[0] - kFrame) / kHop, half = kFrame / 2 + 1;
  Array re{{half, frames}, {}}, im = re;
  for (int64_t k = 0; k < half; ++k)
    for (int64_t t = 0; t < frames; ++t) {
      std::vector<C> line;
      for (int64_t j = 0; j < kFrame; ++j)
        line.emplace_back(in[0].values[size_t(t * kHop + j)] * in[1].values[size_t(j)]);
      const C value = dft(line, true)[size_t(k)];
      re.values.push_back(value.real());
      im.values.push_back(value.imag());
    }
  return {re, im};
}

/// The sum of the inverse frames times the window, over the sum of the window's squares.
Arrays istft_by_hand(const Arrays& in) {
  const int64_t frames = in[0].sizes[1], samples = kFrame + kHop * (frames - 1);
  std::vector<double> sum(size_t(samples), 0.0), weights = sum;
  for (int64_t t = 0; t < frames; ++t) {
    std::vector<C> half;
    for (int64_t k = 0; k <= kFrame / 2; ++k)
      half.emplace_back(in[0].values[size_t(k * frames + t)], in[1].values[size_t(k * frames + t)]);
    const std::vector<C> line = dft(mirrored(half, kFrame), false);
    for (int64_t j = 0; j < kFrame; ++j) {
      const double factor = in[2].values[size_t(j)];
      sum[size_t(t * kHop + j)] += line[size_t(j)].real() / double(kFrame) * factor;
      weights[size_t(t * kHop + j)] += factor * factor;
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) sum[i] /= weights[i];
  return {{{samples}, sum}};
}

Row stft_row() {
  Row row;
  row.name = "stft";
  row.covers = {"stft"};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 16;
  row.gradient_slack = 16;
  row.cases = {{{{9}}, {{kFrame}}}, {{{kFrame}}, {{kFrame}}}};
  row.call = [](const Tensors& in) {
    return parted(in[0].stft(kFrame, kHop, {}, in[1], false, "reflect", false, {}, true));
  };
  row.reference = stft_by_hand;
  return row;
}

Row istft_row() {
  Row row;
  row.name = "istft";
  row.covers = {"istft"};
  row.dtypes = dtypes::kFloatAndDouble;
  row.slack = 16;
  row.gradient_slack = 64;
  row.cases = {{{{3, 4}}, {{3, 4}}, {{kFrame}, Draw::kPositive}}};
  row.call = [](const Tensors& in) {
    return Tensors{make_complex(in[0], in[1]).istft(kFrame, kHop, {}, in[2], false)};
  };
  row.reference = istft_by_hand;
  return row;
}

const Register registered_stft[] = {Register(stft_row()), Register(istft_row())};

/// The signals of tests/oracle/stft_cases.py.
Tensor signal(std::vector<int64_t> sizes) {
  const Tensor n = arange(count_of(sizes), kDouble);
  return n.mul(0.37).sin().add(n.mul(1.3).add(n.sin().mul(0.2)).cos().mul(0.3)).view(sizes);
}
Tensor complex_signal(const std::vector<int64_t>& sizes) {
  return make_complex(signal(sizes), signal(sizes).flip({-1}).mul(0.7));
}
Tensor hann(int64_t n) { return hann_window(n, kDouble); }

struct Options {
  int64_t n_fft = 8;
  std::optional<int64_t> hop = {}, win = {};
  std::optional<Tensor> window = {};
  bool center = true;
  const char* pad_mode = "reflect";
  bool normalized = false;
  std::optional<bool> onesided = {}, align = {};
  std::optional<int64_t> length = {};
  bool return_complex = false;
};
struct OracleCase {
  Tensor input;
  Options options;
};

std::map<std::string, OracleCase> stft_cases() {
  const Tensor x = signal({2, 21});
  return {{"plain", {x, {}}},
          {"unbatched", {signal({19}), {.n_fft = 6, .hop = 3, .window = hann(6)}}},
          {"short_window", {x, {.win = 5, .window = hann(5)}}},
          {"short_ones", {x, {.win = 5}}},
          {"not_centred", {x, {.n_fft = 7, .hop = 4, .center = false}}},
          {"aligned", {x, {.hop = 2, .win = 4, .window = hann(4), .center = false, .align = true}}},
          {"constant", {x, {.pad_mode = "constant"}}},
          {"replicate", {x, {.pad_mode = "replicate"}}},
          {"circular", {x, {.pad_mode = "circular"}}},
          {"normalized", {x, {.window = hann(8), .normalized = true}}},
          {"twosided", {x, {.onesided = false}}},
          {"complex", {complex_signal({2, 21}), {.window = hann(8)}}},
          {"complex_window", {signal({21}), {.window = complex_signal({8})}}}};
}

std::map<std::string, OracleCase> istft_cases() {
  const Tensor z = complex_signal({2, 5, 6}), all = complex_signal({2, 8, 6});
  return {
      {"plain", {z, {}}},
      {"unbatched", {complex_signal({4, 7}), {.n_fft = 6, .hop = 3, .window = hann(6)}}},
      {"odd", {complex_signal({2, 4, 6}), {.n_fft = 7, .hop = 2}}},
      {"short_window", {z, {.hop = 2, .win = 5, .window = hann(5).add(0.1)}}},
      {"not_centred", {z, {.window = hann(8).add(0.1), .center = false}}},
      {"normalized", {z, {.window = hann(8), .normalized = true}}},
      {"twosided", {all, {.onesided = false}}},
      {"complex",
       {all, {.window = complex_signal({8}).add(0.5), .onesided = false, .return_complex = true}}},
      {"truncated", {z, {.length = 7}}},
      {"padded", {z, {.length = 16}}}};
}

std::map<std::string, Tensor> windows() {
  return {{"hann", hann_window(7, kDouble)},
          {"hann_symmetric", hann_window(7, false, kDouble)},
          {"hamming", hamming_window(6, kDouble)},
          {"hamming_alpha", hamming_window(6, false, 0.6, kDouble)},
          {"hamming_beta", hamming_window(6, true, 0.6, 0.3, kDouble)},
          {"blackman", blackman_window(7, kDouble)},
          {"blackman_symmetric", blackman_window(8, false, kDouble)},
          {"bartlett", bartlett_window(7, kDouble)},
          {"bartlett_symmetric", bartlett_window(8, false, kDouble)},
          {"kaiser", kaiser_window(7, kDouble)},
          {"kaiser_beta", kaiser_window(8, false, 3.5, kDouble)}};
}

std::map<std::string, Tensor> read_expected() {
  std::ifstream file(fixture_path("stft_cases.txt"));
  EXPECT_TRUE(file);
  std::map<std::string, Tensor> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, sizes_text, values_text, part;
    words >> name >> sizes_text >> values_text;
    std::vector<int64_t> sizes;
    std::vector<double> values;
    std::istringstream parts(sizes_text), numbers_text(values_text);
    while (std::getline(parts, part, 'x')) sizes.push_back(std::stoll(part));
    while (std::getline(numbers_text, part, ',')) values.push_back(std::stod(part));
    result[name] = tensor(values, kDouble).view(sizes);
  }
  return result;
}

Tensor as_real(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

void expect_equal(const Tensor& got, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(got.sizes().vec(), wanted.sizes().vec()) << what;
  EXPECT_LT(got.to(kCPU).sub(wanted).abs().max().item<double>(), 1e-7) << what;
}

TEST(Stft, EqualsPyTorch) {
  const std::map<std::string, Tensor> expected = read_expected();
  size_t checked = 0;
  const auto check = [&](const std::string& name, const OracleCase& c, Device device,
                         const auto& call) {
    const Tensor x = c.input.detach().to(device).requires_grad_();
    Options options = c.options;
    if (options.window) options.window = options.window->to(device);
    const Tensor y = as_real(call(x, options));
    expect_equal(y.detach(), expected.at(name), name);
    y.backward(arange(y.numel(), kDouble).cos().view(y.sizes()).to(device));
    expect_equal(as_real(x.grad()), expected.at(name + ".grad"), name + ".grad");
    checked += device.is_cpu() ? 2 : 0;
  };
  for (const Device device : devices()) {
    if (is_real_gpu(device)) continue;
    for (const auto& [name, c] : stft_cases())
      check("stft." + name, c, device, [](const Tensor& x, const Options& o) {
        return stft(x, o.n_fft, o.hop, o.win, o.window, o.center, o.pad_mode, o.normalized,
                    o.onesided, true, o.align);
      });
    for (const auto& [name, c] : istft_cases())
      check("istft." + name, c, device, [](const Tensor& x, const Options& o) {
        return istft(x, o.n_fft, o.hop, o.win, o.window, o.center, o.normalized, o.onesided,
                     o.length, o.return_complex);
      });
  }
  for (const auto& [name, values] : windows()) {
    expect_equal(values, expected.at("window." + name), name);
    ++checked;
  }
  EXPECT_EQ(checked, expected.size());
}

TEST(Stft, InverseRestoresTheSignal) {
  manual_seed(1);
  const Tensor x = randn({3, 1000}, kDouble);
  const Tensor window = hann_window(256, kDouble);
  const Tensor z = x.stft(256, 64, {}, window, true, "reflect", false, {}, true);
  EXPECT_EQ(z.sizes().vec(), (std::vector<int64_t>{3, 129, 16}));
  const Tensor back = z.istft(256, 64, {}, window, true, false, {}, 1000);
  EXPECT_LT(back.sub(x).abs().max().item<double>(), 1e-12);
  const Tensor parts = x.stft(256, 64, {}, window, true, "reflect", false, {}, false);
  EXPECT_TRUE(parts.equal(view_as_real(z)));
}

TEST(Stft, Errors) {
  const Tensor x = ones({2, 100});
  const auto call = [](const Tensor& t, int64_t n, std::optional<int64_t> hop = {},
                       std::optional<int64_t> win = {}, std::optional<Tensor> w = {}) {
    return t.stft(n, hop, win, w, false, "reflect", false, {}, true);
  };
  EXPECT_ERROR(x.stft(16), "stft requires the return_complex parameter be given for real inputs");
  EXPECT_ERROR(call(x, 101),
               "stft(CPUFloatType[2, 100], n_fft=101, hop_length=25, win_length=101, "
               "window=None, normalized=0, onesided=None, return_complex=1, align_to_window=None) "
               ": expected 0 < n_fft < 100, but got n_fft=101");
  EXPECT_ERROR(call(x, 16, 0), "expected hop_length > 0, but got hop_length=0");
  EXPECT_ERROR(call(x, 16, {}, 17), "expected 0 < win_length <= n_fft, but got win_length=17");
  EXPECT_ERROR(call(x, 16, {}, {}, ones({15})),
               "window=CPUFloatType{[15]}, normalized=0, onesided=None, return_complex=1, "
               "align_to_window=None) : expected a 1D window tensor of size equal to "
               "win_length=16, but got window with size [15]");
  EXPECT_ERROR(call(x.unsqueeze(0), 16), "expected a 1D or 2D tensor");
  EXPECT_ERROR(call(x.to(kLong), 16), "expected a tensor of floating point or complex values");
  EXPECT_ERROR(x.stft(16, {}, {}, {}, true, "reflect", false, {}, true, true),
               "stft align_to_window should only be set when center = false");
  EXPECT_ERROR(x.to(kComplexFloat).stft(16, {}, {}, {}, true, "reflect", false, true),
               "Cannot have onesided output if window or input is complex");
  EXPECT_ERROR(call(x, 16, {}, {}, ones({16}, kMeta)),
               "stft input and window must be on the same device but got self on cpu and window on "
               "meta");
}

TEST(Stft, InverseErrors) {
  const Tensor z = ones({2, 9, 26}, kComplexFloat);
  const std::optional<Tensor> none;
  EXPECT_ERROR(istft(ones({2, 9, 26}), 16),
               "istft requires a complex-valued input tensor matching the output from stft");
  EXPECT_ERROR(istft(z.unsqueeze(0), 16), "expected a tensor with 3 or 4 dimensions, but got 5");
  EXPECT_ERROR(istft(z.narrow(0, 0, 0), 16),
               "istft(CPUComplexFloatType[0, 9, 26], n_fft=16, hop_length=4, win_length=16, "
               "window=None, center=1, normalized=0, onesided=None, length=None, "
               "return_complex=0) : input tensor cannot be empty.");
  EXPECT_ERROR(istft(z, 18),
               "expected the frequency dimension (3rd to the last) of the input tensor to match "
               "n_fft / 2 + 1 when onesided=True, but got 9");
  EXPECT_ERROR(istft(z, 16, 4, 16, none, true, false, false),
               "to match n_fft when onesided=False, but got 9");
  EXPECT_ERROR(istft(z, 16, 17), "expected 0 < hop_length <= win_length");
  EXPECT_ERROR(istft(z, 16, {}, 17), "expected 0 < win_length <= n_fft");
  EXPECT_ERROR(istft(z, 16, {}, {}, ones({15})),
               "Invalid window shape. window has to be 1D and length of `win_length`");
  EXPECT_ERROR(istft(z, 16, {}, {}, hann_window(16), false),
               "return_complex=0) window overlap add min: 1");
  EXPECT_ERROR(istft(z, 16, {}, {}, hann_window(16).to(kComplexFloat)),
               "Complex windows are incompatible with return_complex=False");
  EXPECT_ERROR(istft(z, 16, {}, {}, none, true, false, {}, {}, true),
               "Cannot have onesided output if window or input is complex");
}

TEST(Windows, LengthsAndDtypes) {
  EXPECT_EQ(hann_window(0).numel(), 0);
  EXPECT_EQ(kaiser_window(1).item<float>(), 1);
  EXPECT_EQ(bartlett_window(5, kHalf).scalar_type(), kHalf);
  EXPECT_TRUE(blackman_window(5, TensorOptions().requires_grad(true)).requires_grad());
  Tensor out = empty({0});
  EXPECT_TRUE(hamming_window_out(out, 5, false).equal(hamming_window(5, false)));
  EXPECT_ERROR(hann_window(-1),
               "hann_window requires non-negative window_length, got window_length=-1");
  EXPECT_ERROR(hann_window(5, kLong),
               "hann_window expects floating point dtypes, got: TensorOptions(dtype=long int");
}

}  // namespace
}  // namespace hearth::testing
