// Random arguments for the calls in tests/ops/forms.cpp.
#include <map>

#include "tests/ops/forms.h"

namespace hearth::testing {
namespace {

/// Numbers with absolute values from 0.1 to 0.9, of which the first 29 differ; every second number
/// is negative if `sign` is -1.
Tensor numbers(std::vector<int64_t> sizes, double sign = -1) {
  const Tensor x = empty(sizes, kDouble);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.data_ptr<double>()[i] = (i % 2 ? sign : 1) * (0.1 + 0.8 * double((i * 7 + 3) % 29) / 29);
  return x.to(kFloat);
}
Tensor positive(std::vector<int64_t> sizes) { return numbers(std::move(sizes), 1); }
Tensor index_tensor(std::vector<int64_t> sizes, int64_t below) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return arange(count, kLong).remainder(below).reshape(sizes);
}

}  // namespace

template <>
Tensor pick_value<Tensor>(std::mt19937& random) {
  switch (random() % 20) {
    case 0: return positive({3, 4});
    case 1: return index_tensor({3, 4}, 3);
    case 2: return numbers({3, 4}).gt(0);
    case 3: return numbers({4});
    case 4: return numbers({3});
    case 5: return numbers({4, 3});
    case 6: return numbers({3, 3});
    case 7: return numbers({2, 3, 4});
    case 8: return index_tensor({3}, 3);
    case 9: return numbers({});
    case 10: return index_tensor({4}, 3);
    default: return numbers({3, 4});
  }
}
template <>
Scalar pick_value<Scalar>(std::mt19937& random) {
  const Scalar pool[] = {2, 1.5, 1, 0.25};
  return pool[random() % 4];
}
template <>
int64_t pick_value<int64_t>(std::mt19937& random) {
  return int64_t(random() % 5) - 1;
}
template <>
bool pick_value<bool>(std::mt19937& random) {
  return random() % 2;
}
template <>
double pick_value<double>(std::mt19937& random) {
  return 0.25 * double(1 + random() % 4);
}
template <>
ScalarType pick_value<ScalarType>(std::mt19937& random) {
  return random() % 2 ? kFloat : kDouble;
}
template <>
NamedDtype pick_value<NamedDtype>(std::mt19937&) {
  return kInt;
}
template <>
std::string_view pick_value<std::string_view>(std::mt19937& random) {
  const std::string_view pool[] = {"none", "tanh",    "trunc", "floor", "add",  "multiply", "left",
                                   "fro",  "reduced", "L",     "gelsd", "mean", "linear"};
  return pool[random() % std::size(pool)];
}
template <>
IntArrayRef pick_value<IntArrayRef>(std::mt19937& random) {
  static const std::vector<std::vector<int64_t>> pool{
      {3, 4}, {4, 3}, {12},   {0},    {1},       {-1},      {0, 1},
      {1, 0}, {2, 2}, {1, 3}, {1, 1}, {1, 2, 1}, {2, 2, 2}, {1, 1, 2, 2}};
  return pool[random() % pool.size()];
}
template <>
OptionalIntArrayRef pick_value<OptionalIntArrayRef>(std::mt19937& random) {
  if (random() % 3 == 0) return {};
  return pick_value<IntArrayRef>(random);
}
template <>
ArrayRef<double> pick_value<ArrayRef<double>>(std::mt19937& random) {
  static const std::vector<std::vector<double>> pool{{2}, {1.5, 0.5}, {2, 1, 1.5}};
  return pool[random() % pool.size()];
}
template <>
ArrayRef<Scalar> pick_value<ArrayRef<Scalar>>(std::mt19937& random) {
  static const std::vector<std::vector<Scalar>> pool{{2}, {1.5, 2}};
  return pool[random() % pool.size()];
}
template <>
TensorList pick_value<TensorList>(std::mt19937& random) {
  static const std::vector<Tensor> list{numbers({3, 4}), positive({3, 4})};
  static const std::vector<Tensor> squares{numbers({3, 3}), positive({3, 3})};
  return random() % 2 ? list : squares;
}
template <>
MemoryFormat pick_value<MemoryFormat>(std::mt19937&) {
  return MemoryFormat::Contiguous;
}
template <>
PaddingName pick_value<PaddingName>(std::mt19937&) {
  return "same";
}

namespace {

/// Tensor arguments, in order, of functions that accept few combinations.
const std::map<std::string, Tensors>& wanted_tensors() {
  const Tensors probabilities{positive({3, 4}), positive({3, 4}), positive({3, 4})};
  const Tensors image{numbers({2, 3, 8, 8})};
  const Tensors signal{numbers({2, 3, 8})};
  const Tensors volume{numbers({1, 2, 4, 4, 4})};
  const Tensors indices_of_elements{numbers({3, 4}), index_tensor({3, 4}, 3), numbers({3, 4})};
  const Tensors indices_of_slices{numbers({3, 4}), index_tensor({3}, 3), numbers({3, 4})};
  const Tensors whole{index_tensor({3, 4}, 3), index_tensor({3, 4}, 5)};
  const Tensors masked{numbers({3, 4}), numbers({3, 4}).gt(0), numbers({3, 4})};
  const Tensors definite{numbers({4, 4}).add(by_name::eye(4).mul(9))};
  const Tensors two_squares{definite[0], definite[0].mul(2)};
  const auto pivots = arange(1, 5, kInt);
  static const std::map<std::string, Tensors> tensors{
      {"linalg_inv", definite},
      {"linalg_inv_ex", definite},
      {"inverse", definite},
      {"linalg_det", definite},
      {"det", definite},
      {"logdet", definite},
      {"linalg_slogdet", definite},
      {"slogdet", definite},
      {"linalg_cholesky", definite},
      {"linalg_cholesky_ex", definite},
      {"cholesky_inverse", definite},
      {"linalg_eigh", definite},
      {"linalg_eigvalsh", definite},
      {"linalg_matrix_exp", definite},
      {"matrix_exp", definite},
      {"linalg_matrix_power", definite},
      {"linalg_lu_factor", definite},
      {"linalg_lu_factor_ex", definite},
      {"linalg_lu", definite},
      {"linalg_cond", definite},
      {"linalg_pinv", definite},
      {"linalg_matrix_rank", definite},
      {"linalg_solve", two_squares},
      {"linalg_solve_ex", two_squares},
      {"linalg_solve_triangular", two_squares},
      {"triangular_solve", two_squares},
      {"cholesky_solve", two_squares},
      {"linalg_lstsq", {numbers({4, 3}), numbers({4, 2})}},
      {"linalg_householder_product", {numbers({4, 3}), numbers({3})}},
      {"orgqr", {numbers({4, 3}), numbers({3})}},
      {"lu_unpack", {definite[0], pivots}},
      {"linalg_lu_solve", {definite[0], pivots, definite[0]}},
      {"lu_solve", {definite[0], definite[0], pivots}},
      {"linalg_tensorinv", {numbers({2, 3, 6})}},
      {"linalg_tensorsolve", {numbers({2, 3, 6}), numbers({2, 3})}},
      {"narrow", {numbers({6, 4}), index_tensor({}, 3)}},
      {"tensor_split", {numbers({6, 4}), arange(1, 3)}},
      {"addmm", {numbers({3, 3}), numbers({3, 4}), numbers({4, 3})}},
      {"addmv", {numbers({3}), numbers({3, 4}), numbers({4})}},
      {"addr", {numbers({3, 4}), numbers({3}), numbers({4})}},
      {"baddbmm", {numbers({2, 3, 3}), numbers({2, 3, 4}), numbers({2, 4, 3})}},
      {"addbmm", {numbers({3, 3}), numbers({2, 3, 4}), numbers({2, 4, 3})}},
      {"bmm", {numbers({2, 3, 4}), numbers({2, 4, 3})}},
      {"bitwise_left_shift", {index_tensor({3, 4}, 3), index_tensor({3, 4}, 3)}},
      {"bitwise_right_shift", {index_tensor({3, 4}, 3), index_tensor({3, 4}, 3)}},
      {"bitwise_and", {index_tensor({3, 4}, 3), index_tensor({3, 4}, 5)}},
      {"bitwise_or", {index_tensor({3, 4}, 3), index_tensor({3, 4}, 5)}},
      {"bitwise_xor", {index_tensor({3, 4}, 3), index_tensor({3, 4}, 5)}},
      {"bitwise_not", {index_tensor({3, 4}, 3)}},
      {"acosh", {positive({3, 4}).add(1)}},
      {"arccosh", {positive({3, 4}).add(1)}},
      {"floor", {numbers({3, 4}).mul(9)}},
      {"trunc", {numbers({3, 4}).mul(9)}},
      {"fix", {numbers({3, 4}).mul(9)}},
      {"round", {numbers({3, 4}).mul(99)}},
      {"floor_divide", {numbers({3, 4}).mul(9), positive({3, 4})}},
      {"cross", {numbers({3, 4}), positive({3, 4})}},
      {"dsplit", {numbers({2, 3, 4})}},
      {"__and__", whole},
      {"__or__", whole},
      {"__xor__", whole},
      {"__lshift__", whole},
      {"__rshift__", whole},
      {"gcd", whole},
      {"lcm", whole},
      {"linalg_eig", definite},
      {"linalg_eigvals", definite},
      {"linalg_ldl_factor", definite},
      {"linalg_ldl_factor_ex", definite},
      {"linalg_ldl_solve", {definite[0], pivots, definite[0]}},
      {"ormqr", {numbers({4, 3}), numbers({3}), numbers({4, 4})}},
      {"quantile", {numbers({3, 4}), full({2}, 0.3)}},
      {"nanquantile", {numbers({3, 4}), full({2}, 0.3)}},
      {"histogram", {numbers({4}), std::get<0>(numbers({5}).sort()), positive({4})}},
      {"segment_reduce", {numbers({4}), full({2}, 2, kLong)}},
      {"as_strided_scatter", {numbers({3, 4}), numbers({1})}},
      {"fill", {numbers({3, 4}), numbers({})}},
      {"poisson", {positive({3, 4})}},
      {"binomial", {positive({3, 4}).mul(9), positive({3, 4}).div(3)}},
      {"scatter_reduce", indices_of_elements},
      {"index_reduce", indices_of_slices},
      {"scatter", indices_of_elements},
      {"scatter_add", indices_of_elements},
      {"gather", indices_of_elements},
      {"take_along_dim", indices_of_elements},
      {"take", {numbers({3, 4}), index_tensor({3}, 3)}},
      {"index_add", indices_of_slices},
      {"index_copy", indices_of_slices},
      {"index_select", indices_of_slices},
      {"index_fill", {numbers({3, 4}), index_tensor({2}, 3), numbers({})}},
      {"masked_fill", {numbers({3, 4}), numbers({3, 4}).gt(0), numbers({})}},
      {"masked_select", masked},
      {"masked_scatter", masked},
      {"where", {numbers({3, 4}).gt(0), numbers({3, 4}), positive({3, 4})}},
      {"select_scatter", {numbers({3, 4}), numbers({4})}},
      {"diagonal_scatter", {numbers({3, 4}), numbers({3})}},
      {"nll_loss", {numbers({3, 4}), index_tensor({3}, 4), positive({4})}},
      {"binary_cross_entropy", probabilities},
      {"float_power", {positive({3, 4}).to(kDouble), numbers({3, 4})}},
      {"linear", {numbers({3, 4}), numbers({2, 4}), numbers({2})}},
      {"searchsorted", {std::get<0>(numbers({4}).sort(0)), numbers({3, 4})}},
      {"bincount", {index_tensor({4}, 3), numbers({4})}},
      {"repeat_interleave", {numbers({3, 4}), index_tensor({12}, 3)}},
      {"multinomial", {positive({3, 4})}},
      {"bernoulli", {positive({3, 4}), positive({3, 4})}},
      {"prelu", {numbers({3, 4}), numbers({4})}},
      {"rrelu_with_noise", {numbers({3, 4}), numbers({3, 4})}},
      {"channel_shuffle", {numbers({2, 3, 4})}},
      {"avg_pool2d", image},
      {"adaptive_avg_pool2d", image},
      {"upsample_nearest1d", signal},
      {"_upsample_nearest_exact1d", signal},
      {"upsample_linear1d", signal},
      {"upsample_nearest2d", image},
      {"_upsample_nearest_exact2d", image},
      {"upsample_bilinear2d", image},
      {"upsample_bicubic2d", image},
      {"_upsample_bilinear2d_aa", image},
      {"_upsample_bicubic2d_aa", image},
      {"upsample_nearest3d", volume},
      {"_upsample_nearest_exact3d", volume},
      {"upsample_trilinear3d", volume},
      {"grid_sampler_2d", {numbers({2, 3, 4, 5}), numbers({2, 2, 2, 2})}},
      {"grid_sampler_3d", {numbers({1, 2, 3, 4, 2}), numbers({1, 2, 1, 2, 3})}},
      {"affine_grid_generator", {numbers({1, 2, 3})}},
      {"adaptive_max_pool2d", image},
      {"max_pool2d_with_indices", image},
      {"avg_pool3d", volume},
      {"adaptive_avg_pool3d", volume},
      {"adaptive_max_pool3d", volume},
      {"max_pool3d_with_indices", volume},
      {"im2col", image},
      {"col2im", {numbers({2, 12, 2})}},
      {"glu", {numbers({4, 4})}},
      {"matrix_power", {numbers({3, 3})}},
      {"unfold", {numbers({4, 4})}},
      {"istft", {make_complex(numbers({2, 5}), numbers({2, 5})), positive({2})}},
      {"t", {numbers({3, 4})}}};
  return tensors;
}

}  // namespace

Erased pick(const CallForm& form, std::mt19937& random) {
  Erased arguments;
  for (const ArgumentType* type : form.types) arguments.push_back(type->pick(random));
  const auto wanted = wanted_tensors().find(form.name);
  if (wanted == wanted_tensors().end()) return arguments;
  const Tensors& tensors = wanted->second;
  size_t next = 0;
  for (std::any& argument : arguments) {
    if (next == tensors.size()) break;
    if (argument.type() == typeid(Tensor)) {
      argument = tensors[next++].clone();
    } else if (argument.type() == typeid(std::optional<Tensor>) &&
               std::any_cast<std::optional<Tensor>&>(argument)) {
      argument = std::optional<Tensor>(tensors[next++].clone());
    }
  }
  return arguments;
}

}  // namespace hearth::testing
