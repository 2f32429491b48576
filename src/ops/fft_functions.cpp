// Fourier transforms: the functions, their checks and their out= forms.
#include <algorithm>
#include <string>

#include "ops/composed_out.h"
#include "ops/fft.h"
#include "ops/view_shape.h"

namespace hearth {

namespace {

/// The properties of a function. `name` is its name in errors, without "fft_".
struct FftFacts {
  const char* name;
  FftKind kind;
  bool forward;
};
// Functions of one dimension.
constexpr FftFacts kLine[] = {
    {"fft", FftKind::kComplex, true},        {"ifft", FftKind::kComplex, false},
    {"rfft", FftKind::kRealToComplex, true}, {"irfft", FftKind::kComplexToReal, false},
    {"hfft", FftKind::kComplexToReal, true}, {"ihfft", FftKind::kRealToComplex, false}};
// Functions of several dimensions; those of two, such as fft2, use the same entries.
constexpr FftFacts kDims[] = {
    {"fftn", FftKind::kComplex, true},        {"ifftn", FftKind::kComplex, false},
    {"rfftn", FftKind::kRealToComplex, true}, {"irfftn", FftKind::kComplexToReal, false},
    {"hfftn", FftKind::kComplexToReal, true}, {"ihfftn", FftKind::kRealToComplex, false}};
// Indices into both tables.
enum Function { kFft, kIfft, kRfft, kIrfft, kHfft, kIhfft };

/// The divisor for PyTorch's argument `norm` in a direction.
FftNorm norm_of(const std::string& mode, bool forward) {
  if (mode == "ortho") return FftNorm::kByRootN;
  HEARTH_CHECK(mode.empty() || mode == "backward" || mode == "forward",
               "Invalid normalization mode: \"", mode, "\"");
  return (mode == "forward") == forward ? FftNorm::kByN : FftNorm::kNone;
}

/// The input, converted to a dtype that the transform takes.
Tensor promoted(const FftFacts& facts, const Tensor& self) {
  ScalarType type = self.scalar_type();
  if (facts.kind == FftKind::kRealToComplex) {
    if (facts.name == std::string_view("ihfftn"))
      HEARTH_CHECK_AS(TypeError, !is_complex(type),
                      "Only supports floating-point dtypes, but found: ", name_of(type));
    HEARTH_CHECK_AS(TypeError, !is_complex(type), facts.name, " expects a real",
                    facts.name == std::string_view("rfftn") ? "-valued" : "",
                    " input tensor, but got ", name_of(type));
  }
  if (is_integral(type, true)) type = get_default_dtype();
  HEARTH_CHECK_AS(NotImplementedError, is_complex(type) || !is_reduced_float(type),
                  "Unsupported dtype ", name_of(type));
  return self.to(facts.kind == FftKind::kComplexToReal ? to_complex(type) : type);
}

void check_points(int64_t n) {
  HEARTH_CHECK(n >= 1, "Invalid number of data points (", n, ") specified");
}

/// The input cut or padded with zeros to these sizes along the dimensions.
Tensor resized_to(Tensor self, const Dims& dims, const Dims& sizes) {
  std::vector<int64_t> pad(size_t(2 * self.dim()), 0);
  bool pads = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = dims[i], missing = sizes[i] - self.size(d);
    if (missing < 0) self = self.narrow(d, 0, sizes[i]);
    if (missing <= 0) continue;
    pads = true;
    pad[size_t(2 * (self.dim() - 1 - d) + 1)] = missing;
  }
  return pads ? self.constant_pad_nd(pad) : self;
}

/// The transform of the promoted `self` along `dims`; `sizes` are the signal's sizes along them.
Tensor transform(const FftFacts& facts, const std::string& norm, const Tensor& self,
                 const Dims& dims, Dims sizes) {
  double numbers = 1;
  for (const int64_t size : sizes) numbers *= double(size);
  const double scale = fft_scale(norm_of(norm, facts.forward), numbers);
  const bool real_result = facts.kind == FftKind::kComplexToReal;
  const int64_t last = sizes[sizes.size() - 1];
  if (real_result) sizes[sizes.size() - 1] = last / 2 + 1;
  const Tensor in = resized_to(self, dims, sizes);
  if (real_result) return fft_to_real(in, dims, last, scale, facts.forward);
  if (in.is_complex()) return fft_complex(in, dims, scale, facts.forward);
  return fft_of_real(in, dims, scale, facts.forward, facts.kind == FftKind::kRealToComplex);
}

struct LineArgs {
  std::optional<int64_t> n;
  int64_t dim;
  std::string norm;
  HEARTH_FIELDS(n, dim, norm)
};

Tensor transform_line(const FftFacts& facts, const LineArgs& args, const Tensor& self) {
  const Tensor input = promoted(facts, self);
  HEARTH_CHECK_AS(IndexError, self.dim() > 0, "Dimension specified as ", args.dim,
                  " but tensor has no dimensions");
  const int64_t dim = wrap_dim(args.dim, self.dim()), size = input.size(dim);
  const int64_t n = args.n.value_or(facts.kind == FftKind::kComplexToReal ? 2 * (size - 1) : size);
  check_points(n);
  return transform(facts, args.norm, input, {dim}, {n});
}

struct DimsArgs {
  std::optional<std::vector<int64_t>> s, dim;
  std::string norm;
  HEARTH_FIELDS(s, dim, norm)
};

/// The dimensions of a transform and the signal's sizes along them.
struct FftShape {
  Dims dims, sizes;
};
FftShape shape_of(const DimsArgs& args, const Tensor& self) {
  FftShape shape;
  const int64_t count = self.dim();
  if (args.dim) {
    for (int64_t d : *args.dim) {
      HEARTH_CHECK_AS(IndexError, count > 0, "Dimension specified as ", d,
                      " but tensor has no dimensions");
      d = wrap_dim(d, count);
      HEARTH_CHECK(std::count(shape.dims.begin(), shape.dims.end(), d) == 0,
                   "FFT dims must be unique");
      shape.dims.push_back(d);
    }
    HEARTH_CHECK(!args.s || args.s->size() == shape.dims.size(),
                 "When given, dim and shape arguments must have the same length");
  } else {
    const int64_t given = args.s ? int64_t(args.s->size()) : count;
    HEARTH_CHECK(given <= count, "Got shape with ", given, " values but input tensor only has ",
                 count, " dimensions.");
    for (int64_t d = count - given; d < count; ++d) shape.dims.push_back(d);
  }
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const bool as_is = !args.s || (*args.s)[i] == -1;
    shape.sizes.push_back(as_is ? self.size(shape.dims[i]) : (*args.s)[i]);
    check_points(shape.sizes[i]);
  }
  return shape;
}

Tensor transform_dims(const FftFacts& facts, const DimsArgs& args, const Tensor& self) {
  const Tensor input = promoted(facts, self);
  FftShape shape = shape_of(args, input);
  if (shape.dims.empty()) {
    HEARTH_CHECK(facts.kind == FftKind::kComplex, facts.name, " must transform at least one axis");
    norm_of(args.norm, facts.forward);
    return input.is_complex() ? input.clone() : input.to(to_complex(input.scalar_type()));
  }
  int64_t& last = shape.sizes[shape.sizes.size() - 1];
  if (facts.kind == FftKind::kComplexToReal && (!args.s || args.s->back() == -1))
    last = 2 * (last - 1);
  check_points(last);
  return transform(facts, args.norm, input, shape.dims, shape.sizes);
}

/// A function of the tables as a composed op.
template <const OpInfo& op, const FftFacts& facts, class Parameters, auto f>
struct FftOp {
  using Args = Parameters;
  static constexpr OpInfo info = op;
  static Tensor compute(const Args& args, const Tensor& self) { return f(facts, args, self); }
};

/// The out= form. Throws unless `out` is real for real results and complex for complex results.
Tensor& write_transform(const FftFacts& facts, Tensor& out, const std::function<Tensor()>& f) {
  check_defined(facts.name, 0, "out", out);
  const bool real_result = facts.kind == FftKind::kComplexToReal;
  const ScalarType type = out.scalar_type();
  HEARTH_CHECK(real_result ? is_floating_point(type) : is_complex(type), facts.name, " expects a ",
               real_result ? "floating point" : "complex", " output tensor, but got ",
               name_of(type));
  return write_out(facts.name, out, f);
}

std::string text_of(std::optional<std::string_view> norm) {
  return norm ? std::string(*norm) : std::string();
}
std::optional<std::vector<int64_t>> list_of(OptionalIntArrayRef list) {
  if (!list) return {};
  return list->vec();
}

}  // namespace

// Defines fft_<fn> and fft_<fn>_out, which call f; the last argument is their Parameters.
#define HEARTH_DEFINE_FFT(fn, facts, Parameters, f, amp_on_cpu, params, ...)                 \
  namespace {                                                                                \
  constexpr OpInfo kInfo_##fn{.name = "fft_" #fn, .amp_cpu = amp_on_cpu};                    \
  using Op_##fn = FftOp<kInfo_##fn, facts, Parameters, f>;                                   \
  }                                                                                          \
  Tensor fft_##fn(const Tensor& self, HEARTH_LIST params) {                                  \
    check_defined("fft_" #fn, 0, "self", self);                                              \
    return compose<Op_##fn>(__VA_ARGS__, self);                                              \
  }                                                                                          \
  Tensor& fft_##fn##_out(Tensor& out, const Tensor& self, HEARTH_LIST params) {              \
    check_defined("fft_" #fn, 0, "self", self);                                              \
    return write_transform(facts, out, [&] { return compose<Op_##fn>(__VA_ARGS__, self); }); \
  }
#define HEARTH_DEFINE_FFT_LINE(name, function)                                                     \
  HEARTH_DEFINE_FFT(name, kLine[function], LineArgs, transform_line, Amp::kFloat32,                \
                    (std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm), \
                    LineArgs{n, dim, text_of(norm)})
#define HEARTH_DEFINE_FFT_DIMS(name, function, amp_on_cpu, Dim)                             \
  HEARTH_DEFINE_FFT(name, kDims[function], DimsArgs, transform_dims, amp_on_cpu,            \
                    (OptionalIntArrayRef s, Dim dim, std::optional<std::string_view> norm), \
                    DimsArgs{list_of(s), list_of(dim), text_of(norm)})
HEARTH_DEFINE_FFT_LINE(fft, kFft)
HEARTH_DEFINE_FFT_LINE(ifft, kIfft)
HEARTH_DEFINE_FFT_LINE(rfft, kRfft)
HEARTH_DEFINE_FFT_LINE(irfft, kIrfft)
HEARTH_DEFINE_FFT_LINE(hfft, kHfft)
HEARTH_DEFINE_FFT_LINE(ihfft, kIhfft)
// Under autocast on the CPU, PyTorch computes these functions in float32, except hfft and ihfft of
// several dimensions.
HEARTH_DEFINE_FFT_DIMS(fftn, kFft, Amp::kFloat32, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(ifftn, kIfft, Amp::kFloat32, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(rfftn, kRfft, Amp::kFloat32, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(irfftn, kIrfft, Amp::kFloat32, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(hfftn, kHfft, Amp::kKeep, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(ihfftn, kIhfft, Amp::kKeep, OptionalIntArrayRef)
HEARTH_DEFINE_FFT_DIMS(fft2, kFft, Amp::kFloat32, IntArrayRef)
HEARTH_DEFINE_FFT_DIMS(ifft2, kIfft, Amp::kFloat32, IntArrayRef)
HEARTH_DEFINE_FFT_DIMS(rfft2, kRfft, Amp::kFloat32, IntArrayRef)
HEARTH_DEFINE_FFT_DIMS(irfft2, kIrfft, Amp::kFloat32, IntArrayRef)
HEARTH_DEFINE_FFT_DIMS(hfft2, kHfft, Amp::kKeep, IntArrayRef)
HEARTH_DEFINE_FFT_DIMS(ihfft2, kIhfft, Amp::kKeep, IntArrayRef)

}  // namespace hearth
