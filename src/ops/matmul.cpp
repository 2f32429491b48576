#include "seam/matmul.h"
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/dtype_text.h"
#include "ops/promote.h"
#include "ops/view_shape.h"

namespace hearth {

namespace {

/// The factors that backward reads: each one if the other needs a gradient.
SlotSet factors_read(SlotSet needs, int a, int b) {
  return (needs & in_slot(a) ? in_slot(b) : 0u) | (needs & in_slot(b) ? in_slot(a) : 0u);
}

void check_same_dtype(const TensorImpl& a, const TensorImpl& b) {
  HEARTH_CHECK(a.dtype == b.dtype,
               "expected m1 and m2 to have the same dtype, but got: ", TypeMeta(a.dtype).name(),
               " != ", TypeMeta(b.dtype).name(), dtypes_text("self", a, "mat2", b));
}

/// Throws PyTorch's errors; one calls the first factor "self", also in addmm.
void check_matrices(const char* op, const TensorImpl& a, const TensorImpl& b) {
  HEARTH_CHECK(a.dim == 2, op, ": self must be a matrix, got ", int(a.dim), "-D tensor");
  HEARTH_CHECK(b.dim == 2, op, ": mat2 must be a matrix, got ", int(b.dim), "-D tensor");
  HEARTH_CHECK(a.sizes()[1] == b.sizes()[0], op, ": mat1 and mat2 shapes cannot be multiplied (",
               a.sizes()[0], "x", a.sizes()[1], " and ", b.sizes()[0], "x", b.sizes()[1], ")");
}

bool is_column_major(const TensorImpl& m) {
  return m.strides()[0] == 1 && m.strides()[1] == m.sizes()[0];
}

/// The gradients of a @ b, each in the memory order of its factor: if b is weight.t(), the gradient
/// of b is transposed in memory, and the gradient of the weight is contiguous.
Tensor gradient_of_left(const TensorImpl& a, const Tensor& grad, const Tensor& b) {
  return is_column_major(a) ? b.mm(grad.t()).t() : grad.mm(b.t());
}
Tensor gradient_of_right(const TensorImpl& b, const Tensor& grad, const Tensor& a) {
  return is_column_major(b) ? grad.t().mm(a).t() : a.t().mm(grad);
}

/// a @ b for matrices.
struct Mm {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "mm",
                               .arguments = "self,mat2",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kLower,
                               .shapes = in_slot(0) | in_slot(1),
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &a = context.in(0), &b = context.in(1);
    check_matrices(info.name, a, b);
    check_same_dtype(a, b);
    context.set(0, Dims{a.sizes()[0], b.sizes()[1]}, a.dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    MatmulParams params;
    params.a = context.in(0);
    params.b = context.in(1);
    params.out = context.out();
    run_kernel(context.ctx, params);
  }
  static SlotSet saves(const Args&, SlotSet needs) { return factors_read(needs, 0, 1); }
  static void grad(const Args&, GradContext& context) {
    if (context.needs(0))
      context.set(0, gradient_of_left(context.in_shape(0), context.grad(), context.in(1)));
    if (context.needs(1))
      context.set(1, gradient_of_right(context.in_shape(1), context.grad(), context.in(0)));
  }
};

void check_batches(const TensorImpl& a, const TensorImpl& b) {
  HEARTH_CHECK(a.dim == 3, "batch1 must be a 3D tensor");
  HEARTH_CHECK(b.dim == 3, "batch2 must be a 3D tensor");
  HEARTH_CHECK(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1],
               "Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0],
               ", ", a.sizes()[2], "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
}

/// a @ b for batches of matrices.
struct Bmm {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "bmm",
                               .arguments = "self,mat2",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kLower,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &a = context.in(0), &b = context.in(1);
    check_batches(a, b);
    HEARTH_CHECK(a.dtype == b.dtype, "expected scalar type ", name_of(a.dtype), " but found ",
                 name_of(b.dtype), dtypes_text("self", a, "mat2", b));
    context.set(0, Dims{a.sizes()[0], a.sizes()[1], b.sizes()[2]}, a.dtype);
  }
  static void launch(const Args&, LaunchContext& context) { Mm::launch({}, context); }
  static SlotSet saves(const Args&, SlotSet needs) { return factors_read(needs, 0, 1); }
  static void grad(const Args&, GradContext& context) {
    if (context.needs(0)) context.set(0, context.grad().bmm(context.in(1).transpose(1, 2)));
    if (context.needs(1)) context.set(1, context.in(0).transpose(1, 2).bmm(context.grad()));
  }
};

Tensor scaled(const Tensor& t, double factor) { return factor == 1 ? t : t.mul(factor); }

/// Throws unless the term that is added to a product expands to its sizes.
void check_bias(const TensorImpl& bias, const Dims& sizes) {
  const int dims = int(sizes.size());
  HEARTH_CHECK(bias.dim <= dims, "expand(", type_text(bias), "{", bias.sizes(), "}, size=", sizes,
               "): the number of sizes provided (", dims,
               ") must be greater or equal to the number of dimensions in the tensor (",
               int(bias.dim), ")");
  for (int d = 1; d <= bias.dim; ++d) {
    const int64_t bias_size = bias.sizes()[size_t(bias.dim - d)], wanted = sizes[size_t(dims - d)];
    HEARTH_CHECK(bias_size == 1 || bias_size == wanted, "The expanded size of the tensor (", wanted,
                 ") must match the existing size (", bias_size, ") at non-singleton dimension ",
                 dims - d, ".  Target sizes: ", sizes, ".  Tensor sizes: ", bias.sizes());
  }
}

/// beta * c + alpha * (a @ b).
struct Addmm {
  struct Args {
    double beta, alpha;
    HEARTH_FIELDS(beta, alpha)
  };
  static constexpr OpInfo info{.name = "addmm",
                               .arguments = "self,mat1,mat2",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kLower,
                               .shapes = in_slot(1) | in_slot(2),
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &bias = context.in(0), &a = context.in(1), &b = context.in(2);
    check_matrices(info.name, a, b);
    HEARTH_CHECK(bias.dtype == b.dtype, "self and mat2 must have the same dtype, but got ",
                 name_of(bias.dtype), " and ", name_of(b.dtype),
                 dtypes_text("self", bias, "mat2", b));
    check_same_dtype(a, b);
    const Dims sizes{a.sizes()[0], b.sizes()[1]};
    check_bias(bias, sizes);
    context.set(0, sizes, a.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    MatmulParams params;
    params.a = context.in(1);
    params.b = context.in(2);
    params.out = context.out();
    params.c = broadcast_view(context.in(0), params.out);
    params.alpha = args.alpha;
    params.beta = args.beta;
    run_kernel(context.ctx, params);
  }
  static SlotSet saves(const Args&, SlotSet needs) { return factors_read(needs, 1, 2); }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, scaled(context.grad(), args.beta));
    if (context.needs(1))
      context.set(1, scaled(gradient_of_left(context.in_shape(1), context.grad(), context.in(2)),
                            args.alpha));
    if (context.needs(2))
      context.set(2, scaled(gradient_of_right(context.in_shape(2), context.grad(), context.in(1)),
                            args.alpha));
  }
};

/// beta * c + alpha * (a @ b) for batches of matrices.
struct Baddbmm {
  using Args = Addmm::Args;
  static constexpr OpInfo info{.name = "baddbmm",
                               .arguments = "self,batch1,batch2",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kLower,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &bias = context.in(0), &a = context.in(1), &b = context.in(2);
    check_batches(a, b);
    HEARTH_CHECK(a.dtype == b.dtype, "expected scalar type ", name_of(a.dtype), " but found ",
                 name_of(b.dtype));
    HEARTH_CHECK(bias.dtype == a.dtype, "Input dtypes must be the same, got: input ",
                 TypeMeta(bias.dtype).name(), ", batch1: ", TypeMeta(a.dtype).name(),
                 ", batch2: ", TypeMeta(b.dtype).name());
    const Dims sizes{a.sizes()[0], a.sizes()[1], b.sizes()[2]};
    check_bias(bias, sizes);
    context.set(0, sizes, a.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) { Addmm::launch(args, context); }
  static SlotSet saves(const Args&, SlotSet needs) { return factors_read(needs, 1, 2); }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, scaled(context.grad(), args.beta));
    if (context.needs(1))
      context.set(1, scaled(context.grad().bmm(context.in(2).transpose(1, 2)), args.alpha));
    if (context.needs(2))
      context.set(2, scaled(context.in(1).transpose(1, 2).bmm(context.grad()), args.alpha));
  }
};

/// a @ b with broadcast batch dimensions, as one product of 3-D tensors.
Tensor batched_matmul(const Tensor& a, const Tensor& b) {
  const size_t a_batch = size_t(a.dim() - 2), b_batch = size_t(b.dim() - 2);
  const Dims batch = broadcast_sizes(a.sizes().slice(0, a_batch), b.sizes().slice(0, b_batch));
  const auto folded = [&](const Tensor& t) {
    Dims full = batch;
    full.push_back(t.size(-2));
    full.push_back(t.size(-1));
    int64_t batch_size = 1;
    for (int64_t size : batch) batch_size *= size;
    return t.expand(full).reshape({batch_size, t.size(-2), t.size(-1)});
  };
  Dims sizes = batch;
  sizes.push_back(a.size(-2));
  sizes.push_back(b.size(-1));
  return folded(a).bmm(folded(b)).view(sizes);
}

/// Whether all rows of the batch are multiplied by the small factor in one product, as in PyTorch:
/// if the batch needs no copy for it, or if the small factor requires a gradient, which would
/// become a batch otherwise.
bool is_folded(const Tensor& batch, const Tensor& small) {
  if (small.requires_grad() || batch.numel() == 0) return true;
  for (int64_t d = 0; d + 2 < batch.dim(); ++d)
    if (batch.stride(d) != batch.stride(d + 1) * batch.size(d + 1)) return false;
  return true;
}

/// All rows of the batch times a vector or a matrix.
Tensor rows_times(const Tensor& batch, const Tensor& small) {
  const Tensor rows = batch.flatten(0, -2);
  Dims sizes(batch.sizes().slice(0, size_t(batch.dim()) - 1));
  if (small.dim() == 1) return rows.mv(small).view(sizes);
  sizes.push_back(small.size(1));
  return rows.mm(small).view(sizes);
}

Tensor matmul_of(const Tensor& a, const Tensor& b) {
  HEARTH_CHECK(a.dim() > 0 && b.dim() > 0,
               "both arguments to matmul need to be at least 1D, but they are ", a.dim(), "D and ",
               b.dim(), "D");
  if (a.dim() == 1 && b.dim() == 1) return a.dot(b);
  if (a.dim() == 2 && b.dim() <= 2) return b.dim() == 1 ? a.mv(b) : a.mm(b);
  if (a.dim() >= 3 && b.dim() <= 2 && is_folded(a, b)) return rows_times(a, b);
  if (b.dim() >= 3 && a.dim() <= 2) {
    const Tensor batch = b.mT();
    if (a.dim() == 1 && is_folded(batch, a)) return rows_times(batch, a);
    // Only for the gradient, because the transposed result has to be copied.
    if (a.dim() == 2 && a.requires_grad()) return rows_times(batch, a.t()).mT().contiguous();
  }
  if (a.dim() == 1) return matmul_of(a.unsqueeze(0), b).squeeze(-2);
  if (b.dim() == 1) return matmul_of(a, b.unsqueeze(1)).squeeze(-1);
  return batched_matmul(a, b);
}

struct Matmul {
  using Args = NoArgs;
  static constexpr OpInfo info{.name = "matmul", .amp = Amp::kLower};
  static Tensor compute(const Args&, const Tensor& a, const Tensor& b) { return matmul_of(a, b); }
};

/// beta or alpha in the dtype of the computation; throws if it does not fit.
Scalar factor_of(const Scalar& factor, const Tensor& self) {
  return factor.stored_as(wide_type(self.scalar_type()));
}

double as_double(const Scalar& factor) {
  return factor.isComplex() ? factor.toComplexDouble().real() : factor.toDouble();
}

/// Whether as_double() loses nothing.
bool is_real_double(const Scalar& factor) {
  constexpr int64_t kLargest = int64_t{1} << 53;  // of the integers up to which all are doubles
  if (!factor.isIntegral(false)) return factor.toComplexDouble().imag() == 0;
  return -kLargest <= factor.toLong() && factor.toLong() <= kLargest;
}

/// beta * self + alpha * (a @ b), composed of other ops. Op checks the operands.
template <class Op>
Tensor composed_sum(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha) {
  constexpr bool is_batch = std::is_same_v<Op, Baddbmm>;
  check_defined(Op::info.name, 1, is_batch ? "batch1" : "mat1", a);
  check_defined(Op::info.name, 2, is_batch ? "batch2" : "mat2", b);
  const Tensor* const operands[] = {&self, &a, &b};
  InferContext context(Inputs{operands, 3});
  Op::infer({}, context);
  const Tensor product = a.matmul(b).mul(alpha);
  return beta.toComplexDouble() == 0. ? product : self.mul(beta).add(product);
}

/// beta * self + alpha * (a @ b): by Op's kernel, or composed for complex factors and large
/// integers, which kernels do not take.
template <class Op>
auto scaled_sum(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& any_beta,
                const Scalar& any_alpha) {
  const Scalar beta = factor_of(any_beta, self), alpha = factor_of(any_alpha, self);
  const bool is_composed = !(is_real_double(beta) && is_real_double(alpha));
  return pick(
      is_composed,
      composed(Op::info.name,
               [&self, &a, &b, beta, alpha] { return composed_sum<Op>(self, a, b, beta, alpha); }),
      invoke<Op>({as_double(beta), as_double(alpha)}, self, a, b));
}

}  // namespace

HEARTH_DEFINE_OUT(mm, (const Tensor& mat2), invoke<Mm>({}, self, mat2))
HEARTH_DEFINE_OUT(bmm, (const Tensor& mat2), invoke<Bmm>({}, self, mat2))
HEARTH_DEFINE_ALL_FORMS(addmm,
                        (const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                         const Scalar& alpha),
                        scaled_sum<Addmm>(self, mat1, mat2, beta, alpha))

HEARTH_DEFINE_ALL_FORMS(baddbmm,
                        (const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                         const Scalar& alpha),
                        scaled_sum<Baddbmm>(self, batch1, batch2, beta, alpha))

HEARTH_DEFINE_COMPOSED_OUT(matmul, (const Tensor& other), compose<Matmul>({}, self, other))

}  // namespace hearth
