// Norms of matrices and condition numbers.
#include <cmath>

#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

/// The order of a norm: a number or a name.
struct Order {
  double number = 0;
  std::string name;

  explicit Order(const Scalar& ord) : number(ord.toDouble()) {}
  explicit Order(std::string_view ord) : name(ord) {}
  /// Whether the order is ord or -ord.
  bool is(double ord) const { return name.empty() && std::fabs(number) == ord; }
  bool is_spectral() const { return is(2) || name == "nuc"; }
  std::string text() const { return name.empty() ? detail::str(number) : name; }
};

struct NormArgs {
  double number;
  std::string name;
  Dims dim;
  bool keepdim;
  HEARTH_FIELDS(number, name, dim, keepdim)
};

/// self with the two dimensions last.
Tensor moved_last(const Tensor& self, IntArrayRef dim) {
  return self.movedim(dim, IntArrayRef{-2, -1});
}

/// The largest or smallest number; the largest of no numbers is 0.
Tensor extreme(const Tensor& numbers, int64_t dim, bool largest, bool keepdim) {
  if (numbers.size(dim) == 0 && largest) return numbers.sum(IntArrayRef(dim), keepdim);
  return largest ? numbers.amax({dim}, keepdim) : numbers.amin({dim}, keepdim);
}

/// A norm by the singular values.
Tensor spectral_norm(const Order& ord, const Tensor& self, const Dims& dim, bool keepdim) {
  const Tensor matrices = moved_last(self, dim);
  const Tensor values = linalg_svdvals(matrices);
  const Tensor norm =
      ord.name == "nuc" ? values.sum(IntArrayRef(-1)) : extreme(values, -1, ord.number > 0, false);
  if (!keepdim) return norm;
  Dims sizes(self.sizes());
  for (const int64_t d : dim) sizes[size_t(wrap_dim(d, self.dim()))] = 1;
  return norm.reshape(sizes);
}

/// The largest (ord > 0) or smallest sum of magnitudes of a column (ord = ±1) or of a row (±inf).
Tensor sum_norm(double ord, const Tensor& self, Dims dim, bool keepdim) {
  int64_t summed_dim = wrap_dim(dim[0], self.dim()), extreme_dim = wrap_dim(dim[1], self.dim());
  if (std::isinf(ord)) std::swap(summed_dim, extreme_dim);
  if (summed_dim < extreme_dim && !keepdim) --extreme_dim;
  const Tensor sums = linalg_vector_norm(self, 1, OptionalIntArrayRef(summed_dim), keepdim);
  return extreme(sums, extreme_dim, ord > 0, keepdim);
}

Tensor norm_of(const NormArgs& args, const Tensor& self) {
  Order ord(args.number);
  ord.name = args.name;
  if (ord.name == "fro")
    return linalg_vector_norm(self, 2, OptionalIntArrayRef(IntArrayRef(args.dim)), args.keepdim);
  if (!ord.is_spectral()) return sum_norm(args.number, self, args.dim, args.keepdim);
  check_floating(self, "linalg.matrix_norm", false);
  return spectral_norm(ord, self, args.dim, args.keepdim);
}
constexpr OpInfo kMatrixNorm{
    .name = "linalg_matrix_norm", .arguments = "self", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
constexpr OpInfo kNuclear{
    .name = "nuclear_norm", .arguments = "self", .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};

void check_dtype_argument(ScalarType type, std::optional<ScalarType> dtype) {
  constexpr const char* op = "linalg.matrix_norm: ";
  if (!dtype) return;
  HEARTH_CHECK(is_differentiable(*dtype), op, "dtype should be floating point or complex, but got ",
               name_of(*dtype));
  HEARTH_CHECK(promote_types(type, *dtype) == *dtype, op, "the dtype of the input (", name_of(type),
               ") should be convertible without narrowing to the specified dtype (",
               name_of(*dtype), ")");
}

template <const OpInfo& op_info = kMatrixNorm>
Tensor matrix_norm(const Tensor& self, const Order& ord, IntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  constexpr const char* op = "linalg.matrix_norm";
  check_matrix(self, op);
  HEARTH_CHECK(ord.is_spectral() || ord.is(1) || ord.is(INFINITY) || ord.name == "fro", op,
               ": Order ", ord.text(), " not supported.");
  check_floating(self, op);
  HEARTH_CHECK_AS(NotImplementedError, !self.is_complex() || ord.name == "fro", op,
                  ": this norm is not implemented for complex matrices");
  HEARTH_CHECK(dim.size() == 2, op, ": dim must be a 2-tuple. Got ",
               detail::str(dim.empty() ? std::string() : detail::str(dim[0])));
  HEARTH_CHECK(wrap_dim(dim[0], self.dim()) != wrap_dim(dim[1], self.dim()), op,
               ": dims must be different. Got (", dim[0], ", ", dim[1], ")");
  check_dtype_argument(self.scalar_type(), dtype);
  const Tensor input = dtype ? self.to(*dtype) : self;
  return compose<Composed<op_info, NormArgs, norm_of>>({ord.number, ord.name, Dims(dim), keepdim},
                                                       input);
}

Tensor norm_by_number(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                      bool keepdim, std::optional<ScalarType> dtype) {
  check_defined("linalg_norm", 0, "self", self);
  if (dim)
    HEARTH_CHECK(dim->size() == 1 || dim->size() == 2,
                 "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  else if (ord)
    HEARTH_CHECK(
        self.dim() == 1 || self.dim() == 2,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
        self.dim(), "D.");
  if (ord && (dim ? dim->size() == 2 : self.dim() == 2))
    return matrix_norm(self, Order(*ord), dim ? *dim : IntArrayRef{0, 1}, keepdim, dtype);
  return linalg_vector_norm(self, ord ? *ord : Scalar(2), dim, keepdim, dtype);
}

Tensor norm_by_name(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<ScalarType> dtype) {
  check_defined("linalg_norm", 0, "self", self);
  if (dim)
    HEARTH_CHECK(dim->size() == 1 || dim->size() == 2,
                 "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  else
    HEARTH_CHECK(
        self.dim() == 1 || self.dim() == 2,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
        self.dim(), "D.");
  return matrix_norm(self, Order(ord), dim ? *dim : IntArrayRef{0, 1}, keepdim, dtype);
}

Tensor frobenius(const Tensor& self, IntArrayRef dim, bool keepdim) {
  check_defined("frobenius_norm", 0, "self", self);
  HEARTH_CHECK(dim.size() <= 2, "Expected at most 2 dimensions, but got ", dim.size(),
               " dimensions instead.");
  return norm(self, std::optional<Scalar>(2), dim, keepdim);
}

struct CondArgs {
  double number;
  std::string name;
  HEARTH_FIELDS(number, name)
};

Tensor cond_of(const CondArgs& args, const Tensor& self) {
  HEARTH_CHECK(self.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  Order ord(args.number);
  ord.name = args.name;
  const auto check = [&] {
    check_square(self, detail::str("linalg.cond(ord=", ord.text(), ")").c_str());
  };
  if (!ord.name.empty()) check();
  if (self.numel() == 0) return zeros(batch_of(self.sizes()), self.options().requires_grad(false));
  if (ord.is(2)) {
    const Tensor values = linalg_svdvals(self);
    const Tensor largest = values.select(-1, 0), smallest = values.select(-1, -1);
    return ord.number > 0 ? largest.div(smallest) : smallest.div(largest);
  }
  check();
  if (ord.name == "nuc") {
    const Tensor values = linalg_svdvals(self);
    return values.sum(IntArrayRef(-1)).mul(values.reciprocal().sum(IntArrayRef(-1)));
  }
  const auto [inverse, info] = linalg_inv_ex(self);
  const auto norm_by_ord = [&](const Tensor& t) {
    return matrix_norm(t, ord, {-2, -1}, false, {});
  };
  return norm_by_ord(inverse).mul(norm_by_ord(self)).masked_fill(info.gt(0), INFINITY);
}
constexpr OpInfo kCond = float32_under_cpu_autocast("linalg_cond", "self");

Tensor cond(const Tensor& self, const Order& ord) {
  check_defined("linalg_cond", 0, "self", self);
  HEARTH_CHECK(self.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  HEARTH_CHECK_AS(ValueError,
                  ord.is_spectral() || ord.is(1) || ord.is(INFINITY) || ord.name == "fro",
                  "linalg.cond got an invalid norm type: ", ord.text());
  return compose<Composed<kCond, CondArgs, cond_of>>({ord.number, ord.name}, self);
}

}  // namespace
}  // namespace linalg

using namespace linalg;

HEARTH_DEFINE_LINALG(linalg_matrix_norm,
                     (const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                      std::optional<ScalarType> dtype),
                     matrix_norm(self, Order(ord), dim, keepdim, dtype))
HEARTH_DEFINE_LINALG(linalg_matrix_norm,
                     (const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                      std::optional<ScalarType> dtype),
                     matrix_norm(self, Order(ord), dim, keepdim, dtype))
HEARTH_DEFINE_LINALG(linalg_norm,
                     (const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                      bool keepdim, std::optional<ScalarType> dtype),
                     norm_by_number(self, ord, dim, keepdim, dtype))
HEARTH_DEFINE_LINALG(linalg_norm,
                     (const Tensor& self, std::string_view ord, OptionalIntArrayRef dim,
                      bool keepdim, std::optional<ScalarType> dtype),
                     norm_by_name(self, ord, dim, keepdim, dtype))
HEARTH_DEFINE_LINALG(nuclear_norm, (const Tensor& self, bool keepdim),
                     matrix_norm<kNuclear>(self, Order("nuc"), {-2, -1}, keepdim, {}))
HEARTH_DEFINE_LINALG(nuclear_norm, (const Tensor& self, IntArrayRef dim, bool keepdim),
                     matrix_norm<kNuclear>(self, Order("nuc"), dim, keepdim, {}))
HEARTH_DEFINE_LINALG(frobenius_norm, (const Tensor& self, IntArrayRef dim, bool keepdim),
                     frobenius(self, dim, keepdim))
HEARTH_DEFINE_LINALG(linalg_cond, (const Tensor& self, const std::optional<Scalar>& p),
                     cond(self, Order(p ? *p : Scalar(2))))
HEARTH_DEFINE_LINALG(linalg_cond, (const Tensor& self, std::string_view p), cond(self, Order(p)))

}  // namespace hearth
