// The ranges of the random ops, by dtype.
#include "ops/random_range.h"

#include <cstdlib>

#include "ops/saturate.h"

namespace hearth {

namespace {

/// The bits of a floating dtype's significand: it represents all integers up to 2^digits.
int digits_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return 11;
    case kBFloat16: return 8;
    case kFloat: return 24;
    default: return 53;
  }
}

/// The floating dtype's integer nearest to x; x itself where that would overflow.
int64_t nearest(int64_t x, ScalarType dtype) {
  if (double(x) < -largest_number(dtype) || double(x) > largest_number(dtype)) return x;
  switch (dtype) {
    case kHalf: return int64_t(float(Half(float(x))));
    case kBFloat16: return int64_t(float(BFloat16(float(x))));
    case kFloat: return float(x) < 0x1p63f ? int64_t(float(x)) : x;
    default: return double(x) < 0x1p63 ? int64_t(double(x)) : x;
  }
}

/// The distance between neighbouring numbers of the floating dtype near x.
int64_t spacing(int64_t x, ScalarType dtype) {
  int exponent = 0;
  for (int64_t rest = std::abs(x); rest >>= 1;) ++exponent;
  return int64_t(1) << (exponent - digits_of(dtype) + 1);
}

/// Rounds the bounds inwards, as PyTorch does.
void round_inwards(ScalarType dtype, int64_t& from, int64_t& to) {
  if (const int64_t low = nearest(from + 1, dtype); low < from)
    from = low + spacing(from + 1, dtype);
  if (const int64_t high = nearest(to - 1, dtype); high >= to) to = high - spacing(to - 1, dtype);
  HEARTH_CHECK(from < to,
               "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
               "got from=",
               from, " >= to=", to);
}

bool fits(int64_t x, ScalarType dtype) {
  if (dtype == kBool) return x == 0 || x == 1;
  if (is_integral(dtype, false)) return x == IntegerRange(dtype).nearest(x);
  return double(x) >= -largest_number(dtype) && double(x) <= largest_number(dtype);
}

void check_bound(int64_t x, const char* name, ScalarType dtype) {
  HEARTH_CHECK(fits(x, dtype), name, " is out of bounds for ", TypeMeta(dtype).name());
  if (!is_floating_point(dtype)) return;
  const int digits = digits_of(dtype);
  const int64_t exact = int64_t(1) << digits;
  if (x < -exact || x > exact)
    warn(detail::str(name, " is out of bounds [-(2^", digits, "), 2^", digits,
                     "]. Due to precision limitations ", TypeMeta(dtype).name(),
                     " can support discrete uniform distribution only within this range. This "
                     "warning will become an error in version 1.7 release, please fix the code in "
                     "advance"));
}

}  // namespace

void fit_random_range(ScalarType dtype, int64_t& from, int64_t& to) {
  if (is_complex(dtype)) return;
  if (is_floating_point(dtype)) round_inwards(dtype, from, to);
  check_bound(from, "from", dtype);
  check_bound(to - 1, "to - 1", dtype);
}

int64_t largest_random(ScalarType dtype) {
  if (dtype == kBool) return 1;
  return is_integral(dtype, false) ? IntegerRange(dtype).largest : int64_t(1) << digits_of(dtype);
}

void check_uniform_range(ScalarType dtype, double from, double to) {
  const double limit = largest_number(dtype);
  const auto check = [&](double bound, const char* name) {
    HEARTH_CHECK(bound >= -limit && bound <= limit, name, " is out of bounds for ",
                 TypeMeta(dtype).name());
  };
  check(from, "from");
  check(to, "to");
  HEARTH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
               " > to=", to);
  HEARTH_CHECK(to - from <= limit, "uniform_ expects to-from <= std::numeric_limits<",
               name_of(dtype), ">::max(), but found to=", to, " and from=", from,
               " which result in to-from to exceed the limit");
}

void check_permutation_fits(int64_t n, ScalarType dtype) {
  HEARTH_CHECK_AS(NotImplementedError,
                  !is_stored_only(dtype) && dtype != kBool && !is_complex(dtype),
                  "\"randperm\" not implemented for '", name_of(dtype), "'");
  (void)Scalar(n > 0 ? n - 1 : 0).stored_as(dtype);
  if (dtype == kHalf) HEARTH_CHECK(n <= 2049, "n cannot be greater than 2049 for Half type.");
  if (dtype == kFloat)
    HEARTH_CHECK(n <= (1 << 24) + 1, "n cannot be greater than 2^24+1 for Float type.");
  if (dtype == kDouble)
    HEARTH_CHECK(n <= (int64_t(1) << 53) + 1, "n cannot be greater than 2^53+1 for Double type.");
}

}  // namespace hearth
