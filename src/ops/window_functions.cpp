// Window functions. Their numbers are computed in double and then rounded.
#include <cmath>
#include <functional>
#include <numbers>

#include "ops/composed_out.h"
#include "ops/create.h"

namespace hearth {

namespace {

/// A window's value at position x, which goes from 0 to 1.
using WindowFunction = std::function<double(double x)>;

double turn(double x) { return 2 * std::numbers::pi * x; }

double hamming(double x, double alpha, double beta) { return alpha - beta * std::cos(turn(x)); }

double blackman(double x) { return 0.42 - 0.5 * std::cos(turn(x)) + 0.08 * std::cos(2 * turn(x)); }

double bartlett(double x) { return 1 - std::fabs(2 * x - 1); }

double kaiser(double x, double beta) {
  const double y = 2 * x - 1;
  return std::cyl_bessel_i(0, std::fabs(beta) * std::sqrt(std::fmax(1 - y * y, 0))) /
         std::cyl_bessel_i(0, std::fabs(beta));
}

Tensor window(const char* op, int64_t length, bool periodic, const TensorOptions& options,
              const WindowFunction& value_at) {
  const ScalarType type = options.dtype_or_default();
  HEARTH_CHECK(is_differentiable(type), op,
               " expects floating point dtypes, got: ", as_text(options));
  HEARTH_CHECK_AS(NotImplementedError, !is_complex(type), "\"arange_cpu\" not implemented for '",
                  name_of(type), "'");
  HEARTH_CHECK(length >= 0, op, " requires non-negative window_length, got window_length=", length);
  std::vector<double> values(size_t(length), 1.0);
  const double last = double(periodic ? length : length - 1);
  for (int64_t i = 0; length > 1 && i < length; ++i) values[size_t(i)] = value_at(double(i) / last);
  const Tensor numbers = from_blob(values.data(), {length}, kDouble);
  return filled({length}, options, [&](const Tensor& out) { out.copy_(numbers); });
}

// The defaults of hamming_window and kaiser_window.
constexpr double kAlpha = 0.54, kBeta = 0.46, kKaiserBeta = 12;

}  // namespace

// One overload and its out= form; `value_of_x` is an expression of x.
#define HEARTH_DEFINE_WINDOW(name, params, args, is_periodic, value_of_x)               \
  namespace by_name {                                                                   \
  Tensor name(HEARTH_LIST params, const TensorOptions& options) {                       \
    return window(#name, window_length, is_periodic, options,                           \
                  [=](double x) { return value_of_x; });                                \
  }                                                                                     \
  }                                                                                     \
  Tensor& name##_out(Tensor& out HEARTH_REST params) {                                  \
    return write_out(#name, out,                                                        \
                     [&] { return by_name::name(HEARTH_LIST args, options_of(out)); }); \
  }
// The overloads that all windows have.
#define HEARTH_DEFINE_PLAIN_WINDOW(name, value_of_x)                                            \
  HEARTH_DEFINE_WINDOW(name, (int64_t window_length), (window_length), true, value_of_x)        \
  HEARTH_DEFINE_WINDOW(name, (int64_t window_length, bool periodic), (window_length, periodic), \
                       periodic, value_of_x)
HEARTH_DEFINE_PLAIN_WINDOW(hann_window, hamming(x, 0.5, 0.5))
HEARTH_DEFINE_PLAIN_WINDOW(hamming_window, hamming(x, kAlpha, kBeta))
HEARTH_DEFINE_WINDOW(hamming_window, (int64_t window_length, bool periodic, double alpha),
                     (window_length, periodic, alpha), periodic, hamming(x, alpha, kBeta))
HEARTH_DEFINE_WINDOW(hamming_window,
                     (int64_t window_length, bool periodic, double alpha, double beta),
                     (window_length, periodic, alpha, beta), periodic, hamming(x, alpha, beta))
HEARTH_DEFINE_PLAIN_WINDOW(blackman_window, blackman(x))
HEARTH_DEFINE_PLAIN_WINDOW(bartlett_window, bartlett(x))
HEARTH_DEFINE_PLAIN_WINDOW(kaiser_window, kaiser(x, kKaiserBeta))
HEARTH_DEFINE_WINDOW(kaiser_window, (int64_t window_length, bool periodic, double beta),
                     (window_length, periodic, beta), periodic, kaiser(x, beta))

}  // namespace hearth
