#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/dtype_text.h"

namespace hearth {

namespace {

struct Linear {
  using Args = NoArgs;
  static constexpr OpInfo info = {.name = "linear", .amp = Amp::kLower};
  /// Throws PyTorch's errors, which name the factors of the matrix product.
  static void check_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
    if (!input.defined() || !weight.defined()) return;
    const ScalarType input_type = input.scalar_type(), weight_type = weight.scalar_type();
    HEARTH_CHECK(!bias.defined() || bias.scalar_type() == weight_type,
                 "self and mat2 must have the same dtype, but got ", name_of(bias.scalar_type()),
                 " and ", name_of(weight_type),
                 dtypes_text("bias", impl_of(bias), "weight", impl_of(weight)));
    if (input_type == weight_type) return;
    const std::string details = dtypes_text("input", impl_of(input), "weight", impl_of(weight));
    HEARTH_CHECK(!bias.defined() || input.dim() != 2,
                 "mat1 and mat2 must have the same dtype, but got ", name_of(input_type), " and ",
                 name_of(weight_type), details);
    detail::fail<Error>("expected m1 and m2 to have the same dtype, but got: ",
                        TypeMeta(input_type).name(), " != ", TypeMeta(weight_type).name(), details);
  }
  static Tensor compute(const Args&, const Tensor& input, const Tensor& weight,
                        const Tensor& bias) {
    HEARTH_CHECK(input.dim() > 0 && weight.dim() > 0,
                 "both arguments to linear need to be at least 1D, but they are ", input.dim(),
                 "D and ", weight.dim(), "D");
    check_dtypes(input, weight, bias);
    if (!bias.defined()) return input.matmul(weight.t());
    HEARTH_CHECK(weight.dim() != 1, "addmm: mat2 must be a matrix, got 1-D tensor");
    if (input.dim() == 2) return bias.addmm(input, weight.t());
    if (bias.dim() > 1) return input.matmul(weight.t()).add(bias);
    Dims sizes(input.sizes());
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
    sizes[sizes.size() - 1] = weight.size(0);
    return bias.addmm(input.reshape({rows, input.size(-1)}), weight.t()).view(sizes);
  }
};

struct Bilinear {
  using Args = NoArgs;
  static constexpr OpInfo info = {.name = "bilinear", .amp = Amp::kWidest, .amp_cpu = Amp::kKeep};
  static void check(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias) {
    HEARTH_CHECK(a.dim() == b.dim(), "bilinear(): input dimensions do not match: got ", a.dim(),
                 " and ", b.dim());
    HEARTH_CHECK(weight.dim() == 3, "bilinear(): weight must be 3D, got ", weight.dim(), "D");
    for (int64_t d = 0; d + 1 < a.dim(); ++d)
      HEARTH_CHECK(a.size(d) == b.size(d),
                   "bilinear(): input batch dimensions do not match at dim ", d, ": got ",
                   a.size(d), " and ", b.size(d));
    HEARTH_CHECK(a.size(-1) == weight.size(1),
                 "bilinear(): input1 size does not match weight size: got ", a.size(-1),
                 " but expected ", weight.size(1));
    HEARTH_CHECK(b.size(-1) == weight.size(2),
                 "bilinear(): input2 size does not match weight size: got ", b.size(-1),
                 " but expected ", weight.size(2));
    HEARTH_CHECK(!bias.defined() || bias.size(0) == weight.size(0),
                 "bilinear(): bias size does not match weight size: got ",
                 bias.defined() ? bias.size(0) : 0, " but expected ", weight.size(0));
  }
  static Tensor compute(const Args&, const Tensor& a, const Tensor& b, const Tensor& weight,
                        const Tensor& bias) {
    check(a, b, weight, bias);
    const NoAutocast no_autocast;
    Dims sizes(a.sizes());
    const int64_t rows = b.size(-1) == 0 ? 0 : b.numel() / b.size(-1);
    const int64_t out_features = weight.size(0), features1 = weight.size(1),
                  features2 = weight.size(2);
    sizes[sizes.size() - 1] = out_features;
    const Tensor by_features1 =
        weight.permute({1, 0, 2}).reshape({features1, out_features * features2});
    const Tensor product1 =
        a.reshape({rows, features1}).mm(by_features1).view({rows, out_features, features2});
    const Tensor result = product1.bmm(b.reshape({rows, features2, 1})).view(sizes);
    return bias.defined() ? result.add(bias) : result;
  }
};

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  return compose<Linear>({}, input, weight, or_undefined(bias));
}
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias) {
  return compose<Bilinear>({}, input1, input2, weight, or_undefined(bias));
}
HEARTH_DEFINE_WRITE_OUT(linear,
                        (const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias),
                        linear(input, weight, bias))

}  // namespace hearth
