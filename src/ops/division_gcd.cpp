// Greatest common divisors and least common multiples.
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

// For errors, with PyTorch's names of the kernels.
constexpr OpInfo kGcd{.name = "gcd_cpu", .dtypes = dtypes::kIntegers},
    kLcm{.name = "lcm_cpu", .dtypes = dtypes::kIntegers};

/// Euclid's algorithm on all elements at once.
Tensor gcd_of(const Tensor& self, const Tensor& other) {
  const Tensor result = self.bitwise_or(other);  // only its memory order is used
  if (result.is_meta()) return result;
  Tensor a = self.abs(), b = other.abs();
  for (Tensor goes_on = b.ne(0); goes_on.any().item<bool>(); goes_on = b.ne(0)) {
    const Tensor rest = a.fmod(where(goes_on, b, 1));
    a = where(goes_on, b, a);
    b = where(goes_on, rest, 0);
  }
  return result.copy_(a);
}

/// Calls the function with both inputs, in their common dtype and broadcast to the same sizes.
template <const OpInfo& op_info, class Function>
Tensor of_integers(const Tensor& self, const Tensor& other, const Function& function) {
  const ScalarType type = result_type(self, other);
  check_dtype(op_info, type);
  const Dims sizes = broadcast_sizes(self.sizes(), other.sizes());
  return function(self.to(type).expand(sizes), other.to(type).expand(sizes));
}

struct Gcd {
  struct Args {};
  static constexpr OpInfo info{.name = "gcd"};
  static Tensor compute(const Args&, const Tensor& self, const Tensor& other) {
    return of_integers<kGcd>(self, other, gcd_of);
  }
};

struct Lcm {
  struct Args {};
  static constexpr OpInfo info{.name = "lcm"};
  static Tensor compute(const Args&, const Tensor& self, const Tensor& other) {
    return of_integers<kLcm>(self, other, [](const Tensor& a, const Tensor& b) {
      const Tensor divisor = gcd_of(a, b), safe = where(divisor.eq(0), 1, divisor);
      return a.div(safe, "trunc").mul(b).abs();
    });
  }
};

}  // namespace

HEARTH_DEFINE_COMPOSED(gcd, (const Tensor& other), compose<Gcd>({}, self, other))
HEARTH_DEFINE_COMPOSED(lcm, (const Tensor& other), compose<Lcm>({}, self, other))

}  // namespace hearth
