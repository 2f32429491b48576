// Powers and exponentials of matrices, chains of products, tensors as linear maps (tensorinv,
// tensorsolve), and small functions (vander, vecdot, diagonal, matmul).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/linalg.h"

namespace hearth {

namespace linalg {
namespace {

/// The Taylor series of the exponential to degree 15, for matrices with norms up to 1/2 (float32:
/// 2). It groups terms by powers of x^4.
Tensor taylor_exponential(const Tensor& x) {
  constexpr int kGroup = 4, kTerms = 16;
  const Tensor x2 = x.matmul(x);
  const Tensor powers[] = {identity_like(x, batch_of(x.sizes())), x, x2, x2.matmul(x)};
  const Tensor x4 = x2.matmul(x2);
  double factorial = std::tgamma(kTerms);  // 15!
  Tensor sum;
  for (int first = kTerms - kGroup; first >= 0; first -= kGroup) {
    Tensor group;
    for (int i = kGroup - 1; i >= 0; --i) {
      const Tensor term = powers[i].mul(1 / factorial);
      group = group.defined() ? group.add(term) : term;
      if (first + i > 1) factorial /= first + i;
    }
    sum = sum.defined() ? sum.matmul(x4).add(group) : group;
  }
  return sum;
}

/// The number of halvings that bring each matrix's 1-norm to the series' limit; NaN if the norm is
/// not finite, which makes the whole exponential NaN. Each halving needs a squaring later, which
/// doubles the error.
Tensor halvings(const Tensor& a) {
  const NoGradGuard off;
  const Tensor norms = a.detach().abs().sum(IntArrayRef(-2)).amax({-1});
  const Tensor steps = norms.log2().ceil().add(a.scalar_type() == kFloat ? -1 : 1).clamp_min(0);
  return where(steps.isfinite(), steps, std::numeric_limits<double>::quiet_NaN());
}

Tensor exponential_of(const NoArgs&, const Tensor& a) {
  check_square(a, "linalg.matrix_exp");
  check_floating(a, "linalg.matrix_exp");
  HEARTH_CHECK_AS(NotImplementedError, !a.is_complex(),
                  "linalg.matrix_exp: complex matrices are not supported yet");
  if (a.numel() == 0) return a.clone();
  const NoAutocast no_autocast;
  const Tensor wide = a.to(wide_type(a.scalar_type()));
  const Tensor steps = halvings(wide);
  const Tensor scale = full({}, 2, steps.options()).pow(steps.neg());
  Tensor result = taylor_exponential(wide.mul(as_factor(scale)));
  const int64_t num_squarings = a.is_meta() ? 0 : steps.nan_to_num(0).max().item<int64_t>();
  for (int64_t i = 0; i < num_squarings; ++i)
    result = where(as_factor(steps.gt(i)), result.matmul(result), result);
  return result.to(a.scalar_type());
}
constexpr OpInfo kExponential{.name = "linalg_matrix_exp", .arguments = "self"};
Tensor matrix_exponential(const Tensor& a) {
  return compose<Composed<kExponential, NoArgs, exponential_of>>({}, a);
}

/// Multiplies a chain of matrices in the order that needs the fewest multiplications.
class Chain {
 public:
  explicit Chain(const std::vector<Tensor>& matrices)
      : matrices_(matrices), n_(matrices.size()), cost_(n_ * n_, 0), split_(n_ * n_, 0) {
    for (size_t length = 1; length < n_; ++length)
      for (size_t i = 0; i + length < n_; ++i) find_split(i, i + length);
  }
  Tensor product() const { return product(0, n_ - 1); }

 private:
  double rows(size_t i) const { return double(matrices_[i].size(0)); }
  double columns(size_t i) const { return double(matrices_[i].size(1)); }
  void find_split(size_t i, size_t j) {
    double& best = cost_[i * n_ + j];
    best = INFINITY;
    for (size_t k = i; k < j; ++k) {
      const double cost =
          cost_[i * n_ + k] + cost_[(k + 1) * n_ + j] + rows(i) * columns(k) * columns(j);
      if (cost < best) {
        best = cost;
        split_[i * n_ + j] = k;
      }
    }
  }
  Tensor product(size_t i, size_t j) const {
    if (i == j) return matrices_[i];
    const size_t k = split_[i * n_ + j];
    return product(i, k).mm(product(k + 1, j));
  }

  const std::vector<Tensor>& matrices_;
  size_t n_;
  std::vector<double> cost_;
  std::vector<size_t> split_;
};

void check_chain(const std::vector<Tensor>& matrices, TensorList tensors) {
  constexpr const char* op = "multi_dot(): ";
  for (size_t i = 0; i < matrices.size(); ++i) {
    HEARTH_CHECK(tensors[i].scalar_type() == tensors[0].scalar_type(), op,
                 "all tensors must have be the same dtype but tensor 0 is ",
                 TypeMeta(tensors[0].scalar_type()).name(), " and tensor ", i, " ",
                 TypeMeta(tensors[i].scalar_type()).name());
    check_same_device("multi_dot", "tensors", tensors[0].device(), tensors[i].device());
    if (i > 0)
      HEARTH_CHECK(matrices[i - 1].size(1) == matrices[i].size(0), op, "tensors ", i - 1, " and ",
                   i, " with shapes ", tensors[i - 1].sizes(), " and ", tensors[i].sizes(),
                   " cannot be multiplied");
  }
}

Tensor multi_dot_of(TensorList tensors) {
  constexpr const char* op = "multi_dot(): ";
  const size_t n = tensors.size();
  HEARTH_CHECK(n >= 2, op, "expected at least 2 tensors but got ", n);
  for (size_t i = 0; i < n; ++i) check_defined("linalg_multi_dot", int(i), "tensors", tensors[i]);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  Dims sizes;
  const auto check_end = [&](size_t i, const char* which) {
    const int64_t dim = matrices[i].dim();
    HEARTH_CHECK(dim == 1 || dim == 2, op, "the ", which, " tensor must be 1D or 2D but got ", dim,
                 "D");
    if (dim == 2)
      sizes.push_back(matrices[i].size(i == 0 ? 0 : 1));
    else
      matrices[i] = matrices[i].unsqueeze(i == 0 ? 0 : 1);
  };
  check_end(0, "first");
  check_end(n - 1, "last");
  for (size_t i = 1; i + 1 < n; ++i)
    HEARTH_CHECK(matrices[i].dim() == 2, op, "tensor ", i, " must be 2D but got ",
                 matrices[i].dim(), "D");
  check_chain(matrices, tensors);
  return Chain(matrices).product().view(sizes);
}

Tensor chain_of(TensorList matrices) {
  HEARTH_CHECK(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (const Tensor& t : matrices) {
    check_defined("chain_matmul", 0, "matrices", t);
    HEARTH_CHECK(t.dim() == 2, "Tensor dimension is ", t.dim(), ", expected 2 instead.");
  }
  return matrices.size() == 1 ? matrices[0].clone() : multi_dot_of(matrices);
}

int64_t product_of(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}
Dims concatenated(IntArrayRef a, IntArrayRef b) {
  Dims result(a);
  for (const int64_t size : b) result.push_back(size);
  return result;
}

/// self is the matrix of a linear map from tensors of `argument_sizes` to tensors of
/// `result_sizes`.
struct TensorInverse {
  using Args = DimArgs;
  static constexpr OpInfo info = float32_under_cpu_autocast("linalg_tensorinv", "self");
  static Tensor compute(const Args& args, const Tensor& self) {
    const int64_t ind = args.dim;
    HEARTH_CHECK(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);
    const size_t split = size_t(std::min(ind, self.dim()));
    const IntArrayRef result_sizes = self.sizes().slice(0, split),
                      argument_sizes = self.sizes().slice(split, size_t(self.dim()) - split);
    const int64_t rows = product_of(result_sizes), columns = product_of(argument_sizes);
    HEARTH_CHECK(rows == columns,
                 "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                 "prod(self.shape[:ind]), but got ",
                 columns, " != ", rows);
    const auto [inverse, status] = linalg_inv_ex(self.reshape({rows, columns}));
    check_info("inv", status, text_of_singular);
    return inverse.reshape(concatenated(argument_sizes, result_sizes));
  }
};

struct TensorSolve {
  struct Args {
    Dims dims;
    HEARTH_FIELDS(dims)
  };
  static constexpr OpInfo info = float32_under_cpu_autocast("linalg_tensorsolve", "self,other");
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& other) {
    Tensor a = self;
    if (!args.dims.empty()) {
      Dims ends;
      for (size_t i = 0; i < args.dims.size(); ++i)
        ends.push_back(int64_t(i) - int64_t(args.dims.size()));
      a = a.movedim(args.dims, ends);
    }
    const size_t split = size_t(std::min(other.dim(), a.dim()));
    const IntArrayRef result_sizes = a.sizes().slice(0, split),
                      argument_sizes = a.sizes().slice(split, size_t(a.dim()) - split);
    const int64_t rows = product_of(result_sizes), columns = product_of(argument_sizes);
    HEARTH_CHECK(rows == columns,
                 "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                 "prod(self.shape[:other.ndim]), but got ",
                 columns, " != ", rows);
    return linalg_solve(a.reshape({rows, columns}), other.reshape({-1})).reshape(argument_sizes);
  }
};

Tensor vander_of(const Tensor& x, std::optional<int64_t> count) {
  check_defined("linalg_vander", 0, "x", x);
  const ScalarType type = x.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type != kBool && !is_reduced_float(type),
                  "linalg.vander supports floating point, complex, and integer tensors, but got ",
                  name_of(type));
  HEARTH_CHECK(x.dim() > 0 || count, "N must be greater than 1.");
  const int64_t n = count ? *count : x.size(-1);
  HEARTH_CHECK(n > 1, "N must be greater than 1.");
  const Tensor factors = x.unsqueeze(-1).expand(concatenated(x.sizes(), {n - 1}));
  const Tensor first = ones_like(factors.narrow(-1, 0, 1));
  return cat({first, factors.cumprod(-1)}, -1);  // integers become int64
}

struct Vecdot {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "linalg_vecdot", .arguments = "x,y", .amp = Amp::kLower};
  static Tensor compute(const Args& args, const Tensor& x, const Tensor& y) {
    check_floating(x, "linalg.vecdot");
    HEARTH_CHECK(x.scalar_type() == y.scalar_type(),
                 "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ",
                 name_of(x.scalar_type()), " and y of type ", name_of(y.scalar_type()), " instead");
    return x.conj().mul(y).sum(IntArrayRef(args.dim));
  }
};

}  // namespace
}  // namespace linalg

using namespace linalg;

HEARTH_DEFINE_LINALG(linalg_matrix_power, (const Tensor& self, int64_t n), matrix_power(self, n))
HEARTH_DEFINE_LINALG(linalg_matrix_exp, (const Tensor& self), matrix_exponential(self))
HEARTH_DEFINE_METHOD(Tensor, matrix_exp, (), matrix_exponential(self))
HEARTH_DEFINE_LINALG(linalg_multi_dot, (TensorList tensors), multi_dot_of(tensors))
HEARTH_DEFINE_LINALG(chain_matmul, (TensorList matrices), chain_of(matrices))
HEARTH_DEFINE_LINALG(linalg_tensorinv, (const Tensor& self, int64_t ind),
                     compose<TensorInverse>({ind}, self))
HEARTH_DEFINE_LINALG(linalg_tensorsolve,
                     (const Tensor& self, const Tensor& other, OptionalIntArrayRef dims),
                     compose<TensorSolve>({dims ? Dims(*dims) : Dims()}, self, other))
Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) { return vander_of(x, N); }
HEARTH_DEFINE_LINALG(linalg_vecdot, (const Tensor& x, const Tensor& y, int64_t dim),
                     compose<Vecdot>({dim}, x, y))
Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return A.diagonal(offset, dim1, dim2);
}
HEARTH_DEFINE_LINALG(linalg_matmul, (const Tensor& self, const Tensor& other), matmul(self, other))

}  // namespace hearth
