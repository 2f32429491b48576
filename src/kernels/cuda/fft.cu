// Fourier transforms: lines are gathered into contiguous memory unless cuFFT can read them in
// place, transformed by cuFFT, and written with their scale. The kernels have one element per
// thread at a time. Bound by memory traffic: the gathering, the writing and each pass of cuFFT read
// and write all elements.
#include "seam/fft.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/fft_cufft.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/lines.h"
#include "kernels/cuda/offsets.h"

namespace hearth::cuda {

namespace {

template <class T>
struct FftArgs {
  FftKind kind;
  bool forward, full;
  int64_t n, half;  // the length of a line, and of the first half of a Hermitian one
  T scale, weight;

  explicit FftArgs(const FftParams& params)
      : kind(params.kind),
        forward(params.forward),
        full(params.full),
        n(params.kind == FftKind::kComplexToReal ? params.out.sizes[params.dim]
                                                 : params.in.sizes[params.dim]),
        half(n / 2 + 1),
        scale(static_cast<T>(params.scale)),
        weight(static_cast<T>(params.weight)) {}

  /// Whether the input has only the first half of each Hermitian line.
  __host__ __device__ bool from_half() const { return kind == FftKind::kComplexToReal && !full; }
  /// Whether number k of a Hermitian line stands for its mirror image too.
  __device__ bool is_mirrored(int64_t k) const { return k > 0 && 2 * k != n; }
  /// Number k of the input of cuFFT's complex-to-real transform, which is always backward.
  __device__ complex<T> prepared(complex<T> value, int64_t k) const {
    if (!is_mirrored(k)) return {value.real_, T(0)};
    return {value.real_ * weight, (forward ? -value.imag_ : value.imag_) * weight};
  }
  /// Number k of the transform of a real line. cuFFT computes only the first half, forward.
  __device__ complex<T> of_real(const complex<T>* line, int64_t k) const {
    const complex<T> value = line[k < half ? k : n - k];
    const T factor = !full && is_mirrored(k) ? scale * weight : scale;
    const bool is_conjugate = (k < half) != forward;
    return {value.real_ * factor, (is_conjugate ? -value.imag_ : value.imag_) * factor};
  }
};

/// Gathers lines of `length` elements of type E; prepares half lines for cuFFT.
template <class T, class E>
__global__ void __launch_bounds__(kBlock)
    fft_read_kernel(const __grid_constant__ FftArgs<T> args,
                    const __grid_constant__ Offsets<1> offsets, FastDivisor length, const char* in,
                    E* lines, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step) {
    int64_t offset[1], k;
    offsets.find(i, offset);
    length.divide(i, k);
    const E value = *reinterpret_cast<const E*>(in + offset[0]);
    if constexpr (kIsComplex<E>)
      lines[i] = args.from_half() ? args.prepared(value, k) : value;
    else
      lines[i] = value;
  }
}

/// Writes results of type E from the transformed lines.
template <class T, class E>
__global__ void __launch_bounds__(kBlock)
    fft_write_kernel(const __grid_constant__ FftArgs<T> args,
                     const __grid_constant__ Offsets<1> offsets, FastDivisor length,
                     const void* lines, char* out, int64_t count) {
  const auto* const numbers = static_cast<const complex<T>*>(lines);
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step) {
    int64_t offset[1], k;
    offsets.find(i, offset);
    const int64_t line = length.divide(i, k);
    E& to = *reinterpret_cast<E*>(out + offset[0]);
    if constexpr (!kIsComplex<E>)
      to = args.scale * (args.full ? numbers[i].real_ : static_cast<const T*>(lines)[i]);
    else if (args.kind == FftKind::kRealToComplex)
      to = args.of_real(numbers + line * args.half, k);
    else
      to = {numbers[i].real_ * args.scale, numbers[i].imag_ * args.scale};
  }
}

/// The elements of all lines, one line after the other.
Offsets<1> line_offsets(const View& view) {
  Loop loop(view.dim, view.sizes);
  loop.add(view);
  loop.merge();
  return Offsets<1>(loop);
}

/// Whether cuFFT can read the lines in place.
bool is_dense(const View& lines) {
  constexpr uintptr_t kAlignment = 16;
  return lines.contiguous() && reinterpret_cast<uintptr_t>(lines.data) % kAlignment == 0;
}

template <class T>
class Transform {
 public:
  Transform(const FftParams& params, Ctx& ctx)
      : args_(params),
        in_(lines_along(params.in, params.dim)),
        out_(lines_along(params.out, params.dim)),
        count_(params.in.numel / last_size(in_)),
        ctx_(ctx) {}

  void run() const {
    FftCall call;
    call.kind =
        args_.full && args_.kind == FftKind::kComplexToReal ? FftKind::kComplex : args_.kind;
    call.is_double = sizeof(T) == 8;
    call.forward = args_.forward;
    call.n = args_.n;
    call.count = count_;
    call.in = !args_.from_half() && is_dense(in_) ? in_.data : gathered();
    const bool has_halves = call.kind == FftKind::kRealToComplex;
    call.out =
        ctx_.scratch(size_t(count_ * (has_halves ? args_.half : args_.n)) * sizeof(complex<T>));
    run_cufft(call, ctx_);
    is_complex(out_.dtype) ? write<complex<T>>(call.out) : write<T>(call.out);
  }

 private:
  void* gathered() const {
    return is_complex(in_.dtype) ? gathered_as<complex<T>>() : gathered_as<T>();
  }
  template <class E>
  void* gathered_as() const {
    E* const lines = static_cast<E*>(ctx_.scratch(size_t(in_.numel) * sizeof(E)));
    const NativeStream& stream = stream_of(ctx_);
    launch(fft_read_kernel<T, E>, grid_for(in_.numel, stream), stream, args_, line_offsets(in_),
           FastDivisor(last_size(in_)), in_.as<const char>(), lines, in_.numel);
    return lines;
  }
  template <class E>
  void write(const void* lines) const {
    const NativeStream& stream = stream_of(ctx_);
    launch(fft_write_kernel<T, E>, grid_for(out_.numel, stream), stream, args_, line_offsets(out_),
           FastDivisor(last_size(out_)), lines, out_.as<char>(), out_.numel);
  }

  const FftArgs<T> args_;
  const View in_, out_;
  const int64_t count_;
  Ctx& ctx_;
};

}  // namespace

void run(const FftParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  by_name::to_real(params.in.dtype) == kDouble ? Transform<double>(params, ctx).run()
                                               : Transform<float>(params, ctx).run();
}

}  // namespace hearth::cuda
