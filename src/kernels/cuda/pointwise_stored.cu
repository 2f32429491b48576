// Pointwise ops with operands of dtypes without kernels (HEARTH_STORED_DTYPES): such inputs are
// first converted to the dtype in which the op computes, and results from it. A thread converts one
// element at a time, of any dtypes and strides. Bound by memory.
#include <algorithm>
#include <cstring>

#include "functors/arithmetic.h"
#include "hearth/float8.h"
#include "kernels/cuda/convert.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/pointwise.h"

namespace hearth::cuda {

namespace {

/// A number of any real dtype: an integer, of which `integer` has the bits, or a real number.
struct AnyNumber {
  bool is_real, is_unsigned;
  int64_t integer;
  double real;
};

HEARTH_LANE AnyNumber integer_number(int64_t value) { return {false, false, value, 0}; }
HEARTH_LANE AnyNumber real_number(double value) { return {true, false, 0, value}; }

HEARTH_LANE AnyNumber load_number(const void* from, ScalarType dtype) {
  switch (dtype) {
    case ScalarType::UInt16: return integer_number(*static_cast<const uint16_t*>(from));
    case ScalarType::UInt32: return integer_number(*static_cast<const uint32_t*>(from));
    case ScalarType::UInt64:
      return {false, true, static_cast<int64_t>(*static_cast<const uint64_t*>(from)), 0};
#define HEARTH_LOAD_FLOAT8(Type) \
  case ScalarType::Type: return real_number(static_cast<float>(*static_cast<const Type*>(from)));
      HEARTH_LOAD_FLOAT8(Float8_e5m2)
      HEARTH_LOAD_FLOAT8(Float8_e4m3fn)
      HEARTH_LOAD_FLOAT8(Float8_e5m2fnuz)
      HEARTH_LOAD_FLOAT8(Float8_e4m3fnuz)
      HEARTH_LOAD_FLOAT8(Float8_e8m0fnu)
#undef HEARTH_LOAD_FLOAT8
    default: break;
  }
  if (dtype == ScalarType::Bool || dtype <= ScalarType::Long)
    return integer_number(load_as<int64_t>(from, dtype));
  return real_number(load_as<double>(from, dtype));
}

/// Calls f with the number's value as int64_t, uint64_t or double.
template <class F>
HEARTH_LANE void with_value(const AnyNumber& number, const F& f) {
  if (number.is_real)
    f(number.real);
  else if (number.is_unsigned)
    f(static_cast<uint64_t>(number.integer));
  else
    f(number.integer);
}

template <class T>
HEARTH_LANE void store_bits(void* to, T value) {
  *static_cast<T*>(to) = value;
}

HEARTH_LANE void store_number(void* to, ScalarType dtype, const AnyNumber& number) {
  with_value(number, [&](auto value) {
    switch (dtype) {
      case ScalarType::UInt16:
        return store_bits(to, static_cast<uint16_t>(static_cast<int64_t>(value)));
      case ScalarType::UInt32:
        return store_bits(to, static_cast<uint32_t>(static_cast<int64_t>(value)));
      case ScalarType::UInt64:
        return store_bits(to, static_cast<uint64_t>(value));
#define HEARTH_STORE_FLOAT8(Type) \
  case ScalarType::Type:          \
    return store_bits(to, Type(static_cast<float>(value)));
        HEARTH_STORE_FLOAT8(Float8_e5m2)
        HEARTH_STORE_FLOAT8(Float8_e4m3fn)
        HEARTH_STORE_FLOAT8(Float8_e5m2fnuz)
        HEARTH_STORE_FLOAT8(Float8_e4m3fnuz)
        HEARTH_STORE_FLOAT8(Float8_e8m0fnu)
#undef HEARTH_STORE_FLOAT8
      default: return store_as(to, dtype, value);
    }
  });
}

struct StoredArgs {
  int64_t numel;
  ScalarType in_dtype, out_dtype;
  const char* in;
  char* out;
  Offsets<2> offsets;  // the output's first
};

__global__ void __launch_bounds__(kBlock) stored_kernel(const __grid_constant__ StoredArgs args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[2];
    args.offsets.find(i, offsets);
    store_number(args.out + offsets[0], args.out_dtype,
                 load_number(args.in + offsets[1], args.in_dtype));
  }
}

/// out = in over the loop of `params`.
void convert_operand(const PointwiseParams& params, const Operand& out, const Operand& in,
                     Ctx& ctx) {
  Loop loop(params.dim, params.sizes);
  loop.add(out.strides, element_size(out.dtype));
  loop.add(in.strides, element_size(in.dtype));
  const StoredArgs args{params.numel,
                        in.dtype,
                        out.dtype,
                        static_cast<const char*>(in.data),
                        static_cast<char*>(out.data),
                        Offsets<2>(loop)};
  const NativeStream& stream = stream_of(ctx);
  launch(stored_kernel, dim3(grid_for(params.numel, stream)), stream, args);
}

/// A contiguous operand in scratch memory.
Operand scratch_operand(const PointwiseParams& params, ScalarType dtype, Ctx& ctx) {
  Operand operand;
  operand.dtype = dtype;
  operand.data = ctx.scratch(static_cast<size_t>(params.numel) * element_size(dtype));
  int64_t stride = 1;
  for (int d = params.dim - 1; d >= 0; --d) {
    operand.strides[d] = stride;
    stride *= params.sizes[d];
  }
  return operand;
}

/// Converts a number on the host.
void convert_number(Operand& in, ScalarType dtype) {
  alignas(16) unsigned char number[16] = {};
  store_number(number, dtype, load_number(in.number, in.dtype));
  std::memcpy(in.number, number, sizeof number);
  in.dtype = dtype;
}

/// The integer type with the size of a dtype, for copies.
ScalarType bits_of(ScalarType dtype) {
  constexpr ScalarType kBits[] = {kByte, kShort, kInt, kLong};
  const size_t size = element_size(dtype);
  return kBits[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

void copy_stored(PointwiseParams params, Ctx& ctx) {
  Operand& in = params.in[0];
  if (in.dtype != params.out.dtype && !in.is_number)
    return convert_operand(params, params.out, in, ctx);
  if (in.dtype != params.out.dtype) convert_number(in, params.out.dtype);
  params.compute = params.out.dtype = in.dtype = bits_of(in.dtype);
  run(params, ctx);
}

}  // namespace

bool has_stored_operand(const PointwiseParams& params) {
  return !has_kernels(params.out.dtype) ||
         std::any_of(params.in, params.in + params.inputs,
                     [](const Operand& in) { return !has_kernels(in.dtype); });
}

void run_stored(const PointwiseParams& params, ScalarType result, Ctx& ctx) {
  if (params.functor == fn::number_of<fn::Copy> && params.formula == Formula::kValue)
    return copy_stored(params, ctx);
  PointwiseParams converted = params;
  for (int k = 0; k < params.inputs; ++k) {
    Operand& in = converted.in[k];
    if (has_kernels(in.dtype)) continue;
    if (in.is_number) {
      convert_number(in, params.compute);
      continue;
    }
    in = scratch_operand(params, params.compute, ctx);
    convert_operand(params, in, params.in[k], ctx);
  }
  if (!has_kernels(params.out.dtype)) converted.out = scratch_operand(params, result, ctx);
  run(converted, ctx);
  if (!has_kernels(params.out.dtype)) convert_operand(params, params.out, converted.out, ctx);
}

}  // namespace hearth::cuda
