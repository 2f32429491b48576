// The short-time Fourier transform and its inverse. The texts of errors are PyTorch's, also where
// they name other numbers or limits than the conditions.
#include <atomic>
#include <string>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/define.h"
#include "ops/fft.h"

namespace hearth {

namespace {

void warn_once(std::atomic<bool>& warned, const char* text) {
  if (!warned.exchange(true) || globalContext().warnAlways()) warn(text);
}

/// The arguments that both directions share, with the default lengths filled in.
struct FrameArgs {
  int64_t n_fft, hop_length, win_length;
  bool center, normalized;
  std::optional<bool> onesided;
  HEARTH_FIELDS(n_fft, hop_length, win_length, center, normalized, onesided)

  FrameArgs(int64_t n, std::optional<int64_t> hop, std::optional<int64_t> win, bool is_centered,
            bool is_normalized, std::optional<bool> is_onesided)
      : n_fft(n),
        hop_length(hop.value_or(n >> 2)),
        win_length(win.value_or(n)),
        center(is_centered),
        normalized(is_normalized),
        onesided(is_onesided) {}
  int64_t before_window() const { return (n_fft - win_length) / 2; }
  int64_t after_window() const { return n_fft - win_length - before_window(); }
};

std::string text_of(const std::optional<bool>& flag) { return !flag ? "None" : *flag ? "1" : "0"; }
std::string text_of_window(const Tensor& window) {
  return window.defined() ? detail::str(window.toString(), "{", window.sizes(), "}") : "None";
}

void check_window_device(const char* op, const Tensor& self, const Tensor& window) {
  HEARTH_CHECK(!window.defined() || window.device() == self.device(), op,
               " input and window must be on the same device but got self on ", self.device(),
               " and window on ", window.device());
}

struct Stft {
  struct Args {
    FrameArgs frames;
    std::string pad_mode;
    std::optional<bool> return_complex, align_to_window;
    HEARTH_FIELDS(frames, pad_mode, return_complex, align_to_window)
  };
  static constexpr OpInfo info{.name = "stft",
                               .arguments = "self,window",
                               .amp = Amp::kKeep,
                               .amp_cpu = Amp::kFloat32,
                               .optional = in_slot(1)};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& window);
};

/// The call as text, with which errors begin.
std::string text_of_call(const Stft::Args& args, const Tensor& self, const Tensor& window) {
  const FrameArgs& f = args.frames;
  return detail::str("stft(", self.toString(), self.sizes(), ", n_fft=", f.n_fft,
                     ", hop_length=", f.hop_length, ", win_length=", f.win_length,
                     ", window=", text_of_window(window), ", normalized=", int(f.normalized),
                     ", onesided=", text_of(f.onesided),
                     ", return_complex=", text_of(args.return_complex),
                     ", align_to_window=", text_of(args.align_to_window), ") : ");
}

/// Pads the samples of [batch, samples] at both ends.
Tensor padded(const Tensor& signal, int64_t before, int64_t after, const std::string& mode) {
  return pad(signal.unsqueeze(0), {before, after}, mode).squeeze(0);
}

/// The window, padded to n_fft numbers; undefined if no window was given and all numbers are 1.
Tensor full_window(const FrameArgs& args, const Tensor& window, const Tensor& self) {
  if (args.win_length == args.n_fft) return window;
  const Tensor inner =
      window.defined() ? window : ones({args.win_length}, self.options().requires_grad(false));
  return inner.constant_pad_nd({args.before_window(), args.after_window()});
}

void check_lengths(const Stft::Args& args, const Tensor& self, const Tensor& window,
                   int64_t samples) {
  const FrameArgs& f = args.frames;
  const auto call = [&] { return text_of_call(args, self, window); };
  HEARTH_CHECK(f.n_fft > 0 && f.n_fft <= samples, call(), "expected 0 < n_fft < ", samples,
               ", but got n_fft=", f.win_length);
  HEARTH_CHECK(f.hop_length > 0, call(),
               "expected hop_length > 0, but got hop_length=", f.hop_length);
  HEARTH_CHECK(f.win_length > 0 && f.win_length <= f.n_fft, call(),
               "expected 0 < win_length <= n_fft, but got win_length=", f.win_length);
  HEARTH_CHECK(!window.defined() || (window.dim() == 1 && window.size(0) == f.win_length), call(),
               "expected a 1D window tensor of size equal to win_length=", f.win_length,
               ", but got window with size ", window.sizes());
}

void check_inputs(const Stft::Args& args, const Tensor& self, const Tensor& window) {
  check_window_device("stft", self, window);
  HEARTH_CHECK(!args.frames.center || !args.align_to_window,
               "stft align_to_window should only be set when center = false");
  HEARTH_CHECK(
      args.return_complex || self.is_complex() || (window.defined() && window.is_complex()),
      "stft requires the return_complex parameter be given for real inputs, and will "
      "further require that return_complex=True in a future PyTorch release.");
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(self.scalar_type()),
                  text_of_call(args, self, window),
                  "expected a tensor of floating point or complex values");
  HEARTH_CHECK(self.dim() == 1 || self.dim() == 2, text_of_call(args, self, window),
               "expected a 1D or 2D tensor");
}

/// The frames times the window: [batch, frames, n_fft].
Tensor frames_of(const Stft::Args& args, const Tensor& self, const Tensor& window) {
  const FrameArgs& f = args.frames;
  Tensor signal = self.dim() == 1 ? self.unsqueeze(0) : self;
  if (f.center) signal = padded(signal, f.n_fft / 2, f.n_fft / 2, args.pad_mode);
  check_lengths(args, self, window, signal.size(1));
  if (args.align_to_window.value_or(false))
    signal = padded(signal, f.before_window(), f.after_window(), args.pad_mode);
  const Tensor frames = signal.unfold(1, f.n_fft, f.hop_length);
  const Tensor factors = full_window(f, window, self);
  return factors.defined() ? frames.mul(factors) : frames;
}

Tensor Stft::compute(const Args& args, const Tensor& self, const Tensor& window) {
  static std::atomic<bool> warned_of_window, warned_of_real_result;
  if (!window.defined())
    warn_once(warned_of_window,
              "A window was not provided. A rectangular window will be applied,which is known to "
              "cause spectral leakage. Other windows such as torch.hann_window or "
              "torch.hamming_window are recommended to reduce spectral leakage.To suppress this "
              "warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, "
              "device=<device>)`.");
  check_inputs(args, self, window);
  const FrameArgs& f = args.frames;
  const Tensor frames = frames_of(args, self, window);
  const bool is_complex = frames.is_complex(), onesided = f.onesided.value_or(!is_complex);
  HEARTH_CHECK(!is_complex || !onesided,
               "Cannot have onesided output if window or input is complex");
  const double scale =
      fft_scale(f.normalized ? FftNorm::kByRootN : FftNorm::kNone, double(f.n_fft));
  Tensor spectra = (is_complex ? fft_complex(frames, {2}, scale, true)
                               : fft_of_real(frames, {2}, scale, true, onesided))
                       .transpose(1, 2);
  if (self.dim() == 1) spectra = spectra.squeeze(0);
  if (args.return_complex.value_or(true)) return spectra;
  warn_once(warned_of_real_result,
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an "
            "error.\nNote: you can still call torch.view_as_real on the complex output to recover "
            "the old return format.");
  return view_as_real(spectra);
}

struct Istft {
  struct Args {
    FrameArgs frames;
    std::optional<int64_t> length;
    bool return_complex;
    HEARTH_FIELDS(frames, length, return_complex)

    /// The range [start, end) of the returned samples among `all`.
    int64_t start() const { return frames.center ? frames.n_fft / 2 : 0; }
    int64_t end(int64_t all) const { return length ? start() + *length : all - start(); }
  };
  static constexpr OpInfo info{.name = "istft", .arguments = "self,window", .optional = in_slot(1)};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& window);
};

std::string text_of_call(const Istft::Args& args, const Tensor& self, const Tensor& window) {
  const FrameArgs& f = args.frames;
  return detail::str("istft(", self.toString(), self.sizes(), ", n_fft=", f.n_fft,
                     ", hop_length=", f.hop_length, ", win_length=", f.win_length,
                     ", window=", text_of_window(window), ", center=", int(f.center),
                     ", normalized=", int(f.normalized), ", onesided=", text_of(f.onesided),
                     ", length=", args.length ? std::to_string(*args.length) : std::string("None"),
                     ", return_complex=", int(args.return_complex), ") ");
}

/// Checks the inputs. Returns whether `self` has only the first half of the frequencies.
bool check_inputs(const Istft::Args& args, const Tensor& self, const Tensor& window) {
  const FrameArgs& f = args.frames;
  const auto call = [&] { return text_of_call(args, self, window) + ": "; };
  check_window_device("istft", self, window);
  HEARTH_CHECK_AS(TypeError, self.is_complex(),
                  "istft requires a complex-valued input tensor matching the output from stft with "
                  "return_complex=True.");
  const int64_t frequencies = self.size(-2);
  HEARTH_CHECK(self.numel() > 0, call(), "input tensor cannot be empty.");
  HEARTH_CHECK(self.dim() == 2 || self.dim() == 3, call(),
               "expected a tensor with 3 or 4 dimensions, but got ", self.dim() + 1);
  const bool onesided = f.onesided.value_or(frequencies != f.n_fft);
  HEARTH_CHECK(frequencies == (onesided ? f.n_fft / 2 + 1 : f.n_fft), call(),
               "expected the frequency dimension (3rd to the last) of the input tensor to match "
               "n_fft ",
               onesided ? "/ 2 + 1 " : "", "when onesided=", onesided ? "True" : "False",
               ", but got ", frequencies);
  HEARTH_CHECK(f.hop_length > 0 && f.hop_length <= f.win_length, call(),
               "expected 0 < hop_length <= win_length");
  HEARTH_CHECK(f.win_length > 0 && f.win_length <= f.n_fft, call(),
               "expected 0 < win_length <= n_fft");
  HEARTH_CHECK(!window.defined() || (window.dim() == 1 && window.size(0) == f.win_length), call(),
               "Invalid window shape. window has to be 1D and length of `win_length`");
  HEARTH_CHECK(!args.return_complex || !onesided,
               "Cannot have onesided output if window or input is complex");
  HEARTH_CHECK(args.return_complex || !window.defined() || !window.is_complex(),
               "Complex windows are incompatible with return_complex=False");
  return onesided;
}

/// Adds the frames [batch, frames, n_fft], of real numbers, to their places among the samples.
Tensor overlap_add(const FrameArgs& f, const Tensor& frames) {
  const int64_t samples = f.n_fft + f.hop_length * (frames.size(1) - 1);
  return col2im(frames.transpose(1, 2), {1, samples}, {1, f.n_fft}, {1, 1}, {0, 0},
                {1, f.hop_length})
      .flatten(1);
}
/// overlap_add for real or complex numbers.
Tensor overlap_add_any(const FrameArgs& f, const Tensor& frames) {
  if (!frames.is_complex()) return overlap_add(f, frames);
  return view_as_complex(stack({overlap_add(f, real(frames)), overlap_add(f, imag(frames))}, -1));
}

/// The frames of the signal, from the spectra `self`: [batch, frames, n_fft].
Tensor inverse_frames(const Istft::Args& args, const Tensor& self, bool onesided) {
  const FrameArgs& f = args.frames;
  Tensor spectra = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const double scale = fft_scale(f.normalized ? FftNorm::kByRootN : FftNorm::kByN, double(f.n_fft));
  if (args.return_complex) return fft_complex(spectra, {2}, scale, false);
  if (!onesided) spectra = spectra.narrow(2, 0, f.n_fft / 2 + 1);
  return fft_to_real(spectra, {2}, f.n_fft, scale, false);
}

Tensor Istft::compute(const Args& args, const Tensor& self, const Tensor& window) {
  static std::atomic<bool> warned_of_window, warned_of_length;
  if (!window.defined())
    warn_once(warned_of_window,
              "A window was not provided. A rectangular window will be applied.Please provide the "
              "same window used by stft to make the inversion lossless.To suppress this warning "
              "and use a rectangular window, explicitly set `window=torch.ones(n_fft, "
              "device=<device>)`.");
  const FrameArgs& f = args.frames;
  const bool onesided = check_inputs(args, self, window);
  const Tensor frames = inverse_frames(args, self, onesided);
  const int64_t count = frames.size(1);
  const TensorOptions real_numbers =
      TensorOptions(to_real(self.scalar_type())).device(self.device());
  const Tensor inner = window.defined() ? window : ones({f.win_length}, real_numbers);
  const Tensor factors = inner.constant_pad_nd({f.before_window(), f.after_window()});
  const Tensor squares = factors.square().expand({1, count, f.n_fft});
  const Tensor sum = overlap_add_any(f, frames.mul(factors));
  const Tensor weights = overlap_add_any(f, squares);
  const int64_t all = sum.size(1), start = args.start(), end = args.end(all);
  const Tensor kept = weights.slice(1, start, end);
  const bool vanishes = !self.is_meta() && kept.abs().min().lt(1e-11).item<bool>();
  HEARTH_CHECK(!vanishes, text_of_call(args, self, window), "window overlap add min: 1");
  Tensor signal = sum.slice(1, start, end).div(kept);
  if (self.dim() == 2) signal = signal.squeeze(0);
  if (end <= all) return signal;
  warn_once(warned_of_length,
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.");
  return signal.constant_pad_nd({0, end - all});
}

}  // namespace

HEARTH_DEFINE_METHOD(
    Tensor, stft,
    (int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
     const std::optional<Tensor>& window, bool center, std::string_view pad_mode, bool normalized,
     std::optional<bool> onesided, std::optional<bool> return_complex,
     std::optional<bool> align_to_window),
    compose<Stft>(Stft::Args{{n_fft, hop_length, win_length, center, normalized, onesided},
                             std::string(pad_mode),
                             return_complex,
                             align_to_window},
                  self, or_undefined(window)))
HEARTH_DEFINE_METHOD(Tensor, stft,
                     (int64_t n_fft, std::optional<int64_t> hop_length,
                      std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                      bool normalized, std::optional<bool> onesided,
                      std::optional<bool> return_complex, std::optional<bool> align_to_window),
                     self.stft(n_fft, hop_length, win_length, window, false, "constant", normalized,
                               onesided, return_complex, align_to_window))
HEARTH_DEFINE_METHOD(
    Tensor, istft,
    (int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
     const std::optional<Tensor>& window, bool center, bool normalized,
     std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex),
    compose<Istft>(Istft::Args{{n_fft, hop_length, win_length, center, normalized, onesided},
                               length,
                               return_complex},
                   self, or_undefined(window)))

}  // namespace hearth
