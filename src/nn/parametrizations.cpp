// weight_norm, spectral_norm and orthogonal.
#include <ostream>
#include <string_view>

#include "hearth/autograd.h"
#include "hearth/nn/normalization.h"
#include "hearth/operators.h"
#include "nn/orthonormal.h"
#include "nn/parametrization_list.h"

namespace hearth::nn::utils::parametrizations {

namespace {

using parametrize::detail::Step;

/// `comma` is "," or empty: PyTorch's error has two forms.
void check_dim(int64_t dim, int64_t dims, const char* comma) {
  HEARTH_CHECK_AS(IndexError, dim >= -dims && dim < dims,
                  "Dimension out of range (expected to be in range of [", -dims, ", ", dims - 1,
                  "]", comma, " but got ", dim, ")");
}

/// Returns the permutation of dimensions that moves `dim` to the front.
std::vector<int64_t> dims_starting_with(int64_t dim, int64_t dims) {
  std::vector<int64_t> order{dim};
  for (int64_t d = 0; d < dims; ++d)
    if (d != dim) order.push_back(d);
  return order;
}

// ---- weight_norm

class WeightNormImpl : public Cloneable<WeightNormImpl> {
 public:
  explicit WeightNormImpl(std::optional<int64_t> dim) : dim_(dim) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "WeightNorm()"; }

  Tensor forward(const std::vector<Tensor>& originals) const {
    const Tensor &g = originals[0], &v = originals[1];
    return v * (g / norm_of(v));
  }
  std::vector<Tensor> right_inverse(const Tensor& weight) const {
    return {norm_of(weight), weight.detach().clone()};
  }

 private:
  /// Returns the norms of the slices along dim, with sizes that broadcast; without dim, the norm of
  /// all elements.
  Tensor norm_of(const Tensor& v) const {
    if (!dim_) return v.norm();
    check_dim(*dim_, v.dim(), ",");
    std::vector<int64_t> others;
    const int64_t kept = *dim_ < 0 ? *dim_ + v.dim() : *dim_;
    for (int64_t d = 0; d < v.dim(); ++d)
      if (d != kept) others.push_back(d);
    return others.empty() ? v.abs() : v.norm(2, others, /*keepdim=*/true);
  }
  std::optional<int64_t> dim_;
};

// ---- spectral_norm

class SpectralNormImpl : public Cloneable<SpectralNormImpl> {
 public:
  SpectralNormImpl(const Tensor& weight, int iterations, double eps, int64_t dim)
      : iterations_(iterations), eps_(eps), dim_(dim < 0 ? dim + weight.dim() : dim) {
    check_dim(dim, weight.dim(), "");
    HEARTH_CHECK_AS(
        ValueError, iterations > 0,
        "Expected n_power_iterations to be positive, but got n_power_iterations=", iterations);
    if (weight.dim() < 2) return;
    const NoGradGuard no_grad;
    const Tensor matrix = as_matrix(weight.detach());
    u_ = empty({matrix.size(0)}, matrix.options()).normal_();
    v_ = empty({matrix.size(1)}, matrix.options()).normal_();
    u_.div_(u_.norm().clamp_min(eps_));
    v_.div_(v_.norm().clamp_min(eps_));
    SpectralNormImpl::reset();
    constexpr int kInitialIterations = 15;
    iterate(matrix, kInitialIterations);
  }
  void reset() override {
    if (!u_.defined()) return;
    u_ = register_buffer("_u", u_.clone());
    v_ = register_buffer("_v", v_.clone());
  }
  void pretty_print(std::ostream& stream) const override { stream << "SpectralNorm()"; }

  Tensor forward(const std::vector<Tensor>& originals) {
    const Tensor& weight = originals[0];
    if (weight.dim() == 1) return weight / weight.norm().clamp_min(eps_);
    const Tensor matrix = as_matrix(weight);
    if (is_training()) iterate(matrix.detach(), iterations_);
    // Copies for this call's backward pass, because the next call changes u_ and v_.
    const Tensor u = u_.clone(), v = v_.clone();
    return weight / u.dot(matrix.mv(v));
  }

 private:
  Tensor as_matrix(const Tensor& weight) const {
    return (dim_ == 0 ? weight : weight.permute(dims_starting_with(dim_, weight.dim()))).flatten(1);
  }
  /// Runs power iterations towards the vectors of the largest singular value.
  void iterate(const Tensor& matrix, int count) {
    const NoGradGuard no_grad;
    const auto set = [this](const Tensor& target, const Tensor& product) {
      target.copy_(product.div(product.norm().clamp_min(eps_)));
    };
    for (int i = 0; i < count; ++i) {
      set(u_, matrix.mv(v_));
      set(v_, matrix.t().mv(u_));
    }
  }

  Tensor u_, v_;
  int iterations_;
  double eps_;
  int64_t dim_;
};

// ---- orthogonal

enum class OrthogonalMap { kMatrixExp, kCayley, kHouseholder };

Tensor identity(const Tensor& like, int64_t rows, int64_t columns) {
  return eye(rows, columns, like.options().requires_grad(false));
}

/// Solves (I - a / 2) @ x = I + a / 2 for skew-symmetric a by elimination, which needs no pivoting
/// because the symmetric part of I - a / 2 is the identity.
Tensor cayley(const Tensor& a) {
  const int64_t n = a.size(-1);
  const Tensor one = identity(a, n, n);
  Tensor rows = cat({one - a / 2, one + a / 2}, -1);
  for (int64_t j = 0; j < n; ++j) {
    const Tensor column = rows.narrow(-1, j, 1), pivot = rows.narrow(-2, j, 1);
    rows = rows - (column - one.narrow(-1, j, 1)).matmul(pivot / column.narrow(-2, j, 1));
  }
  return rows.narrow(-1, n, n);
}

/// Returns the first columns of the product of Householder reflections, whose vectors are the
/// columns of `x` below its diagonal.
Tensor householder(const Tensor& x) {
  const int64_t n = x.size(-2), k = x.size(-1);
  const Tensor below = x.tril(-1);
  const Tensor tau = 2 / (1 + (below * below).sum(-2, /*keepdim=*/true));
  const Tensor vectors = below + identity(x, n, k);
  Tensor q = identity(x, n, k).expand(x.sizes());
  for (int64_t j = k; j-- > 0;) {
    const Tensor v = vectors.narrow(-1, j, 1);
    q = q - (tau.narrow(-1, j, 1) * v).matmul(v.mT().matmul(q));
  }
  // The diagonal holds the columns' signs; it is not trained.
  return q * x.detach().diagonal(0, -2, -1).trunc().unsqueeze(-2);
}

/// Returns Q of the QR decomposition of each matrix.
Tensor make_orthogonal(const Tensor& matrices) {
  const Tensor list = matrices.reshape({-1, matrices.size(-2), matrices.size(-1)});
  std::vector<Tensor> result;
  for (int64_t i = 0; i < list.size(0); ++i)
    result.push_back(nn::detail::orthonormal_columns(list.select(0, i)));
  return stack(result).reshape(matrices.sizes()).to(matrices.scalar_type());
}

/// Whether the columns are orthonormal, with PyTorch's tolerances.
bool is_orthogonal(const Tensor& q) {
  // The machine epsilon of the dtype.
  const double eps = q.scalar_type() == kDouble ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  return q.mT().matmul(q).allclose(identity(q, q.size(-1), q.size(-1)).expand_as(q), 1e-5,
                                   10.0 * static_cast<double>(q.size(-2)) * eps);
}

class OrthogonalImpl : public Cloneable<OrthogonalImpl> {
 public:
  OrthogonalImpl(OrthogonalMap map, const Tensor& weight) : map_(map) {
    const int64_t n = std::max(weight.size(-2), weight.size(-1));
    std::vector<int64_t> sizes = weight.sizes().vec();
    sizes[sizes.size() - 2] = sizes[sizes.size() - 1] = n;
    base_ = empty(sizes, weight.options().requires_grad(false));
    OrthogonalImpl::reset();
  }
  void reset() override { base_ = register_buffer("base", empty_like(base_)); }
  void pretty_print(std::ostream& stream) const override { stream << "Orthogonal()"; }

  Tensor forward(const std::vector<Tensor>& originals) const {
    const bool is_wide = originals[0].size(-2) < originals[0].size(-1);
    const Tensor x = is_wide ? originals[0].mT() : originals[0];
    const Tensor q =
        base_.matmul(map_ == OrthogonalMap::kHouseholder ? householder(x) : rotated(x));
    return is_wide ? q.mT() : q;
  }
  /// Stores the value, made orthonormal and completed to a square matrix, as the base.
  std::vector<Tensor> right_inverse(const Tensor& value) {
    const bool is_wide = value.size(-2) < value.size(-1);
    const Tensor tall = (is_wide ? value.mT() : value).detach();
    const int64_t n = tall.size(-2), k = tall.size(-1);
    if (n == k) {
      base_.copy_(is_orthogonal(tall) ? tall : make_orthogonal(tall));
    } else {
      std::vector<int64_t> sizes = tall.sizes().vec();
      sizes.back() = n - k;
      base_.copy_(make_orthogonal(cat({tall, randn(sizes, tall.options())}, -1)));
    }
    return {-identity(value, value.size(-2), value.size(-1)).expand(value.sizes())};
  }

 private:
  /// Returns the first columns of the orthogonal matrix that the map computes from the lower
  /// triangle of x.
  Tensor rotated(const Tensor& x) const {
    const int64_t n = x.size(-2), k = x.size(-1);
    const Tensor lower = x.tril().constant_pad_nd({0, n - k}), skew = lower - lower.mT();
    return (map_ == OrthogonalMap::kCayley ? cayley(skew) : matrix_exp(skew)).narrow(-1, 0, k);
  }

  OrthogonalMap map_;
  Tensor base_;
};

OrthogonalMap map_named(const std::string& name, const Tensor& weight) {
  if (name.empty())
    return weight.size(-2) == weight.size(-1) ? OrthogonalMap::kMatrixExp
                                              : OrthogonalMap::kHouseholder;
  if (name == "matrix_exp") return OrthogonalMap::kMatrixExp;
  if (name == "cayley") return OrthogonalMap::kCayley;
  HEARTH_CHECK_AS(ValueError, name == "householder",
                  "orthogonal_map has to be one of \"matrix_exp\", \"cayley\", \"householder\". "
                  "Got: ",
                  name);
  return OrthogonalMap::kHouseholder;
}

/// Returns the step of a parametrization whose forward() takes all original tensors, as
/// right_inverse() returns them.
template <class P>
Step step_with_originals(std::shared_ptr<P> module) {
  return {module,
          [](Module& self, const std::vector<Tensor>& originals) {
            return static_cast<P&>(self).forward(originals);
          },
          [](Module& self, const Tensor& value) -> std::vector<Tensor> {
            if constexpr (requires { &P::right_inverse; })
              return static_cast<P&>(self).right_inverse(value);
            else
              return {value};
          }};
}

bool is_transposed_convolution(const Module& module) {
  const std::string_view name = module.name();
  return name.find("::ConvTranspose") != std::string_view::npos;
}

}  // namespace

namespace detail {

void weight_norm(Module& module, const std::string& name, FindMember find,
                 std::optional<int64_t> dim) {
  HEARTH_CHECK(!parametrize::is_parametrized(module, name), "weight_norm: '", name,
               "' has a parametrization already");
  if (dim == -1) dim = std::nullopt;  // as in PyTorch
  parametrize::detail::add(module, name, find,
                           step_with_originals(std::make_shared<WeightNormImpl>(dim)));
}

void spectral_norm(Module& module, const std::string& name, FindMember find, int n_power_iterations,
                   double eps, std::optional<int64_t> dim) {
  const Tensor weight = parametrize::detail::parametrized_value(module, name);
  const int64_t row_dim = dim.value_or(is_transposed_convolution(module) ? 1 : 0);
  parametrize::detail::add(module, name, find,
                           step_with_originals(std::make_shared<SpectralNormImpl>(
                               weight, n_power_iterations, eps, row_dim)));
}

void orthogonal(Module& module, const std::string& name, FindMember find, const std::string& map) {
  const Tensor weight = parametrize::detail::parametrized_value(module, name);
  HEARTH_CHECK_AS(ValueError, weight.dim() >= 2,
                  "Expected a matrix or batch of matrices. Got a tensor of ", weight.dim(),
                  " dimensions.");
  HEARTH_CHECK(!parametrize::is_parametrized(module, name), "orthogonal: '", name,
               "' has a parametrization already");
  parametrize::detail::add(
      module, name, find,
      step_with_originals(std::make_shared<OrthogonalImpl>(map_named(map, weight), weight)));
}

}  // namespace detail

}  // namespace hearth::nn::utils::parametrizations
