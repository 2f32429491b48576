// Products of vectors, matrices and tensors, matrix powers and traces, composed of other ops.
#include <algorithm>
#include <limits>
#include <mutex>

#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/dtype_text.h"
#include "ops/promote.h"
#include "ops/zero_derivative.h"

namespace hearth {

namespace {

struct Scales {
  Scalar beta, alpha;
  HEARTH_FIELDS(beta, alpha)
};

constexpr OpInfo product_info(const char* name, Amp cuda, Amp cpu) {
  return {.name = name, .amp = cuda, .amp_cpu = cpu};
}

void refuse_bool(const Tensor& t, const char* kernel) {
  HEARTH_CHECK_AS(NotImplementedError, t.scalar_type() != kBool, "\"", kernel,
                  "\" not implemented for 'Bool'");
}

struct Addmv {
  using Args = Scales;
  static constexpr OpInfo info = product_info("addmv", Amp::kLower, Amp::kKeep);
  /// `sizes` and `dtype` are those of the addend.
  static void check(IntArrayRef sizes, ScalarType dtype, const Tensor& mat, const Tensor& vec) {
    HEARTH_CHECK(mat.dim() == 2 && vec.dim() == 1 && sizes.size() <= 1,
                 "vector + matrix @ vector expected, got ", sizes.size(), ", ", mat.dim(), ", ",
                 vec.dim());
    const int64_t rows = sizes.empty() ? 1 : sizes[0];
    HEARTH_CHECK(mat.size(1) == vec.size(0) && (rows == mat.size(0) || rows == 1),
                 "size mismatch, got input (", rows, "), mat (", mat.size(0), "x", mat.size(1),
                 "), vec (", vec.size(0), ")");
    HEARTH_CHECK(dtype == mat.scalar_type() && dtype == vec.scalar_type(),
                 "addmv input tensors must have the same dtype, but got ", name_of(dtype), ", ",
                 name_of(mat.scalar_type()), ", and ", name_of(vec.scalar_type()));
    refuse_bool(mat, "addmv_impl_cpu");
  }
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& mat,
                        const Tensor& vec) {
    check_defined("addmv", 0, "self", self);
    check_defined("addmv", 1, "mat", mat);
    check_defined("addmv", 2, "vec", vec);
    check(self.sizes(), self.scalar_type(), mat, vec);
    const NoAutocast plain;
    const Tensor column = self.dim() == 1 ? self.unsqueeze(1) : self;
    return column.addmm(mat, vec.unsqueeze(1), args.beta, args.alpha).squeeze(1);
  }
};

struct Mv {
  using Args = NoArgs;
  static constexpr OpInfo info = product_info("mv", Amp::kLower, Amp::kKeep);
  static Tensor compute(const Args&, const Tensor& mat, const Tensor& vec) {
    check_defined("mv", 0, "self", mat);
    check_defined("mv", 1, "vec", vec);
    const int64_t rows = mat.dim() == 2 ? mat.size(0) : vec.numel();
    Addmv::check(rows, vec.scalar_type(), mat, vec);
    const NoAutocast plain;
    return mat.mm(vec.unsqueeze(1)).squeeze(1);
  }
};

template <const OpInfo& facts>
struct Dot {
  using Args = NoArgs;
  static constexpr OpInfo info = facts;
  static constexpr bool kIsVdot = facts.name[0] == 'v';
  static Tensor compute(const Args&, const Tensor& a, const Tensor& b) {
    check_defined(info.name, 0, "self", a);
    check_defined(info.name, 1, kIsVdot ? "other" : "tensor", b);
    HEARTH_CHECK(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ", a.dim(), "D and ",
                 b.dim(), "D tensors");
    HEARTH_CHECK(a.scalar_type() == b.scalar_type(),
                 "dot : expected both vectors to have same dtype, but found ",
                 name_of(a.scalar_type()), " and ", name_of(b.scalar_type()));
    HEARTH_CHECK(a.size(0) == b.size(0), "inconsistent tensor size, expected tensor [", a.size(0),
                 "] and src [", b.size(0), "] to have the same number of elements, but got ",
                 a.size(0), " and ", b.size(0), " elements respectively");
    refuse_bool(a, info.name);
    const NoAutocast plain;
    const Tensor left = kIsVdot ? a.conj() : a;
    return left.unsqueeze(0).mm(b.unsqueeze(1)).view({});
  }
};
constexpr OpInfo kDot = product_info("dot", Amp::kWidest, Amp::kKeep);
constexpr OpInfo kVdot = product_info("vdot", Amp::kWidest, Amp::kKeep);

void check_vector(const char* op, const Tensor& t, const char* role) {
  HEARTH_CHECK(t.dim() == 1, op, ": Expected 1-D argument ", role, ", but got ", t.dim(), "-D");
}

Tensor outer_of(const Tensor& a, const Tensor& b) {
  check_defined("outer", 0, "self", a);
  check_defined("outer", 1, "vec2", b);
  check_vector("outer", a, "self");
  check_vector("outer", b, "vec2");
  return a.unsqueeze(1).mul(b);
}

struct Addr {
  using Args = Scales;
  static constexpr OpInfo info = product_info("addr", Amp::kLower, Amp::kKeep);
  static void check_factor(const Scalar& factor, const char* name, ScalarType type) {
    HEARTH_CHECK(type == kBool || !factor.isBoolean(), "Boolean ", name,
                 " only supported for Boolean results.");
    HEARTH_CHECK(!is_integral(type, true) || factor.isIntegral(true),
                 "For integral input tensors, argument ", name,
                 " must not be a floating point number.");
  }
  /// For bools, the product is "and", the sum "or", and a factor counts as true if it is not 0.
  static Tensor of_bools(const Args& args, const Tensor& start, const Tensor& product) {
    const auto scaled = [](const Tensor& t, const Scalar& factor) {
      return factor.toDouble() != 0 ? t : zeros({}, t.options());
    };
    const Tensor sum = scaled(start, args.beta).logical_or(scaled(product, args.alpha));
    return sum.expand(product.sizes()).contiguous();
  }
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& a, const Tensor& b) {
    check_defined("addr", 0, "self", self);
    check_defined("addr", 1, "vec1", a);
    check_defined("addr", 2, "vec2", b);
    check_vector("addr", a, "vec1");
    check_vector("addr", b, "vec2");
    const NoAutocast plain;
    const Tensor product = a.unsqueeze(1).mul(b);
    const ScalarType type = result_type(self, product);
    check_factor(args.beta, "beta", type);
    check_factor(args.alpha, "alpha", type);
    const Tensor start = self.expand(product.sizes());
    if (type == kBool) return of_bools(args, start, product);
    const auto scaled = [](const Tensor& t, const Scalar& factor) {
      return factor.equal(1) ? t : t.mul(factor);
    };
    if (args.beta.equal(0))
      return detail::with_zero_derivative(scaled(product, args.alpha).to(type), start);
    return scaled(start, args.beta).add(scaled(product, args.alpha));
  }
};

struct Addbmm {
  using Args = Scales;
  static constexpr OpInfo info = product_info("addbmm", Amp::kLower, Amp::kLower);
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& a, const Tensor& b) {
    check_defined("addbmm", 0, "self", self);
    check_defined("addbmm", 1, "batch1", a);
    check_defined("addbmm", 2, "batch2", b);
    HEARTH_CHECK(a.dim() == 3, "batch1 must be a 3D tensor");
    HEARTH_CHECK(b.dim() == 3, "batch2 must be a 3D tensor");
    HEARTH_CHECK(a.size(0) == b.size(0), "batch1 and batch2 must have same number of batches, got ",
                 a.size(0), " and ", b.size(0));
    HEARTH_CHECK(a.size(2) == b.size(1), "Incompatible matrix sizes for bmm (", a.size(1), "x",
                 a.size(2), " and ", b.size(1), "x", b.size(2), ")");
    // The sum over batches is part of the product's own sum.
    const int64_t inner = a.size(0) * a.size(2);
    return self.addmm(a.transpose(0, 1).reshape({a.size(1), inner}), b.reshape({inner, b.size(2)}),
                      args.beta, args.alpha);
  }
};

Tensor inner_of(const Tensor& a, const Tensor& b) {
  check_defined("inner", 1, "other", b);
  if (a.dim() == 0 || b.dim() == 0) return a.mul(b);
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), "both inputs should have same dtype",
               dtypes_text("self", impl_of(a), "other", impl_of(b)));
  HEARTH_CHECK(a.size(-1) == b.size(-1),
               "inner() the last dimension must match on both input tensors but got shapes ",
               a.sizes(), " and ", b.sizes());
  return tensordot(a, b, {-1}, {-1});
}

struct Trace {
  using Args = NoArgs;
  static constexpr OpInfo info = product_info("trace", Amp::kKeep, Amp::kFloat32);
  static Tensor compute(const Args&, const Tensor& self) {
    HEARTH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
    refuse_bool(self, info.name);
    const NoAutocast plain;
    return self.diagonal().sum();
  }
};

Tensor kron_of(const Tensor& a, const Tensor& b) {
  const size_t dims = size_t(std::max(a.dim(), b.dim()));
  Dims left, right, sizes;
  for (size_t d = 0; d < dims; ++d) {
    const auto size = [&](const Tensor& t) {
      const int64_t mine = int64_t(d) - int64_t(dims) + t.dim();
      return mine < 0 ? 1 : t.size(mine);
    };
    left.push_back(size(a));
    left.push_back(1);
    right.push_back(1);
    right.push_back(size(b));
    sizes.push_back(size(a) * size(b));
  }
  return a.reshape(left).mul(b.reshape(right)).reshape(sizes);
}

Tensor power_of(const Tensor& self, int64_t n) {
  HEARTH_CHECK(self.dim() >= 2,
               "linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
  HEARTH_CHECK(self.size(-1) == self.size(-2),
               "linalg.matrix_power: A must be batches of square matrices, but they are ",
               self.size(-2), " by ", self.size(-1), " matrices");
  HEARTH_CHECK(n != std::numeric_limits<int64_t>::min(),
               "linalg.matrix_power: the power is out of range");
  if (n < 0) return power_of(linalg_inv(self), -n);
  if (n == 0) {
    const Tensor one = eye(self.size(-1), self.options()).expand(self.sizes());
    return detail::with_zero_derivative(one.clone(), self);
  }
  Tensor square = self, result;
  for (; n > 0; n /= 2) {
    if (n % 2) result = result.defined() ? result.matmul(square) : square;
    if (n > 1) square = square.matmul(square);
  }
  return result.is_same(self) ? self.clone() : result;
}

Tensor cross_along(const Tensor& a, const Tensor& b, int64_t dim) {
  HEARTH_CHECK(a.dim() == b.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  HEARTH_CHECK(a.size(dim) == 3 && b.size(dim) == 3, "linalg.cross: inputs dimension ", dim,
               " must have length 3. Got ", a.size(dim), " and ", b.size(dim));
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), "expected scalar type ",
               name_of(a.scalar_type()), " but found ", name_of(b.scalar_type()));
  const auto turn = [dim](const Tensor& t, int64_t by) { return t.roll({-by}, {dim}); };
  return turn(a, 1).mul(turn(b, 2)).sub(turn(a, 2).mul(turn(b, 1)));
}

struct Cross {
  struct Args {
    std::optional<int64_t> dim;
    HEARTH_FIELDS(dim)
  };
  static constexpr OpInfo info = product_info("cross", Amp::kWidest, Amp::kKeep);
  static Tensor compute(const Args& args, const Tensor& a, const Tensor& b) {
    if (args.dim) return cross_along(a, b, *args.dim);
    static std::once_flag warned;
    std::call_once(warned, [] {
      warn(
          "Using torch.cross without specifying the dim arg is deprecated.\n"
          "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
          "The default value of dim will change to agree with that of linalg.cross in a future "
          "release.");
    });
    const Dims sizes = broadcast_sizes(a.sizes(), b.sizes());
    const auto* three = std::find(sizes.begin(), sizes.end(), 3);
    HEARTH_CHECK(three != sizes.end(), "no dimension of size 3 in input");
    return cross_along(a, b, three - sizes.begin());
  }
};

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(mv, (const Tensor& vec), compose<Mv>({}, self, vec))
HEARTH_DEFINE_COMPOSED(addmv,
                       (const Tensor& mat, const Tensor& vec, const Scalar& beta,
                        const Scalar& alpha),
                       compose<Addmv>({beta, alpha}, self, mat, vec))
HEARTH_DEFINE_COMPOSED_OUT(dot, (const Tensor& tensor), compose<Dot<kDot>>({}, self, tensor))
HEARTH_DEFINE_COMPOSED_OUT(vdot, (const Tensor& other), compose<Dot<kVdot>>({}, self, other))
HEARTH_DEFINE_COMPOSED_OUT(inner, (const Tensor& other), inner_of(self, other))
HEARTH_DEFINE_COMPOSED_OUT(outer, (const Tensor& vec2), outer_of(self, vec2))
HEARTH_DEFINE_COMPOSED_OUT(ger, (const Tensor& vec2), outer_of(self, vec2))
HEARTH_DEFINE_COMPOSED(addr,
                       (const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                        const Scalar& alpha),
                       compose<Addr>({beta, alpha}, self, vec1, vec2))
HEARTH_DEFINE_COMPOSED(addbmm,
                       (const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                        const Scalar& alpha),
                       compose<Addbmm>({beta, alpha}, self, batch1, batch2))
HEARTH_DEFINE_COMPOSED_OUT(kron, (const Tensor& other), kron_of(self, other))
HEARTH_DEFINE_METHOD(Tensor, trace, (), compose<Trace>({}, self))
HEARTH_DEFINE_COMPOSED_OUT(matrix_power, (int64_t n), power_of(self, n))
HEARTH_DEFINE_COMPOSED_OUT(cross, (const Tensor& other, std::optional<int64_t> dim),
                           compose<Cross>({dim}, self, other))

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  return cross_along(self, other, dim);
}
Tensor& linalg_cross_out(Tensor& out, const Tensor& self, const Tensor& other, int64_t dim) {
  return write_out("linalg_cross", out, [&] { return cross_along(self, other, dim); });
}

}  // namespace hearth
