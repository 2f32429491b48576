// The autocast policy of each op, compared with PyTorch's lists, and its effect on calls.
#include "hearth/autocast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "hearth/operators.h"
#include "hearth/stream.h"
#include "ops/call.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

// PyTorch's names from "Autocast Op Reference" in its documentation of torch.amp and, where that is
// incomplete, from ATen's autocast_mode.{h,cpp} (2.15). They include ops that Hearth does not have.
// Instead of lstm, gru and rnn_*, PyTorch lists library functions: _cudnn_rnn, mkldnn_rnn_layer.
// Unlisted ops keep their input dtype.
constexpr const char* kCudaLower =
    "matmul addbmm addmm addmv addr baddbmm bmm chain_matmul multi_dot conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc convolution gru_cell linear "
    "lstm_cell mm mv prelu rnn_tanh_cell rnn_relu_cell einsum linalg_vecdot linalg_multi_dot "
    "scaled_dot_product_attention lstm gru rnn_tanh rnn_relu";
constexpr const char* kCudaFloat32 =
    "acos asin binary_cross_entropy_with_logits cosh cosine_embedding_loss cdist "
    "cosine_similarity cross_entropy cumprod cumsum dist erfinv exp expm1 group_norm "
    "hinge_embedding_loss huber_loss kl_div l1_loss layer_norm native_layer_norm log log10 "
    "log_softmax log1p log2 logsumexp margin_ranking_loss mse_loss multilabel_margin_loss "
    "multi_margin_loss nll_loss nll_loss2d norm normalize pdist poisson_nll_loss pow prod "
    "reciprocal rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin softplus sum "
    "renorm tan triplet_margin_loss frobenius_norm nuclear_norm linalg_vector_norm "
    "linalg_matrix_norm upsample_nearest1d upsample_nearest2d upsample_nearest3d "
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d";
constexpr const char* kCudaWidest =
    "addcdiv addcmul atan2 bilinear cross dot vdot grid_sample grid_sampler index_put scatter_add "
    "tensordot";
constexpr const char* kCpuLower =
    "conv1d conv2d conv3d bmm mm linalg_vecdot baddbmm addmm addbmm linear matmul conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d prelu scaled_dot_product_attention lstm "
    "rnn_tanh rnn_relu";
constexpr const char* kCpuFloat32 =
    "avg_pool3d binary_cross_entropy grid_sample grid_sampler polar prod quantile nanquantile stft "
    "fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 "
    "fft_irfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn "
    "cdist trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr "
    "ormqr pinverse max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d reflection_pad1d "
    "reflection_pad2d replication_pad1d replication_pad2d replication_pad3d mse_loss "
    "cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss "
    "smooth_l1_loss cross_entropy cross_entropy_loss l1_loss huber_loss margin_ranking_loss "
    "soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss kl_div "
    "multilabel_margin_loss binary_cross_entropy_with_logits linalg_cond linalg_matrix_rank "
    "linalg_solve linalg_cholesky linalg_svdvals linalg_eigvals linalg_eigvalsh linalg_inv "
    "linalg_householder_product linalg_tensorinv linalg_tensorsolve fake_quantize_per_tensor_"
    "affine geqrf qr svd triangular_solve fractional_max_pool2d fractional_max_pool3d "
    "adaptive_max_pool3d linalg_qr linalg_cholesky_ex linalg_svd linalg_eig linalg_eigh "
    "linalg_lstsq linalg_inv_ex";
constexpr const char* kCpuWidest = "cat stack index_copy";

using Policies = std::map<std::string, Amp>;

Policies listed(const char* lower, const char* float32, const char* widest) {
  Policies policies;
  const auto add = [&](const char* names, Amp policy) {
    std::istringstream words(names);
    for (std::string name; words >> name;) policies[name] = policy;
  };
  add(lower, Amp::kLower);
  add(float32, Amp::kFloat32);
  add(widest, Amp::kWidest);
  return policies;
}

Amp listed_policy(const std::string& name, DeviceType device) {
  static const Policies cuda = listed(kCudaLower, kCudaFloat32, kCudaWidest);
  static const Policies cpu = listed(kCpuLower, kCpuFloat32, kCpuWidest);
  const Policies& policies = device == kCUDA ? cuda : cpu;
  const auto found = policies.find(name);
  return found == policies.end() ? Amp::kKeep : found->second;
}

TEST(Autocast, PoliciesMatchPyTorch) {
  for (const OpRecord* op : all_ops()) {
    const OpInfo& info = *op->info;
    EXPECT_EQ(info.amp, listed_policy(info.name, kCUDA)) << info.name << " on CUDA";
    EXPECT_EQ(info.amp_cpu, listed_policy(info.name, kCPU)) << info.name << " on the CPU";
  }
}

/// PyTorch's policy for a row. With a few exceptions, it is that of the function with the row's
/// name or, if this function has none, of the first op that the row covers.
Amp policy_of(const Row& row, DeviceType device) {
  if (row.name == "sum_to_size") return listed_policy("sum", device);
  if (row.name == "inner") return device == kCUDA ? Amp::kWidest : Amp::kLower;  // tensordot, mm
  if (row.name == "linalg_pinv") return Amp::kLower;                      // its matrix products
  if (row.name.starts_with("affine_grid_generator")) return Amp::kLower;  // as linalg_pinv
  if (row.name.starts_with("index_put")) return Amp::kKeep;               // the rows write in place
  const Amp policy = listed_policy(row.name, device);
  if (policy != Amp::kKeep || row.covers.empty()) return policy;
  const std::string& covered = row.covers[0];
  return listed_policy(covered.substr(0, covered.find('.')), device);
}

ScalarType computed_dtype(Amp policy, ScalarType dtype, ScalarType autocast_dtype) {
  if (dtype == kDouble) return kDouble;
  switch (policy) {
    case Amp::kLower: return autocast_dtype;
    case Amp::kFloat32: return kFloat;
    default: return dtype;  // also for kWidest: the inputs have one dtype
  }
}

/// The dtype of a recurrent step whose products have the autocast dtype. The new state is a
/// function of the old one, of dtype `dtype`, except in rnn_tanh and rnn_relu.
ScalarType dtype_of_step(const Row& row, ScalarType dtype, ScalarType autocast_dtype) {
  const ScalarType product = computed_dtype(Amp::kLower, dtype, autocast_dtype);
  return row.name.starts_with("rnn_") ? product : promote_types(product, dtype);
}

/// Whether the row is a step of linear, which autocast casts, and of other ops, which promote.
bool promotes_products(const Row& row, DeviceType device) {
  return device == kCPU && (row.name.starts_with("gru") || row.name == "lstm_cell" ||
                            row.name == "rnn_tanh_cell" || row.name == "rnn_relu_cell");
}

class OpAutocast : public ::testing::TestWithParam<Row> {};

TEST_P(OpAutocast, FollowsThePolicy) {
  const Row& row = GetParam();
  for (const Device device : devices())
    for (const ScalarType autocast_dtype : {kHalf, kBFloat16})
      for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kDouble}) {
        if (!(row.dtypes >> unsigned(dtype) & 1u)) continue;
        const Tensors in = make_inputs(row.cases[0], dtype, device, MemoryLayout::kContiguous, 1);
        const AutocastMode autocast(device.type(), autocast_dtype);
        // Complex numbers keep their dtype.
        const Amp policy = row.of_complex ? Amp::kKeep : policy_of(row, device.type());
        const ScalarType computed = promotes_products(row, device.type())
                                        ? dtype_of_step(row, dtype, autocast_dtype)
                                        : computed_dtype(policy, dtype, autocast_dtype);
        EXPECT_EQ(row.call(in)[0].scalar_type(), result_dtype(row, 0, computed))
            << row.name << " of " << name_of(dtype) << " on " << device;
      }
}

TEST_P(OpAutocast, DoesNotChangeOutAndInplaceForms) {
  const Row& row = GetParam();
  if (!row.reference || (!row.out && !row.inplace)) GTEST_SKIP() << "the row has no such forms";
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kHalf}) {
      if (!(row.dtypes >> unsigned(dtype) & 1u)) continue;
      const Tensors in = make_inputs(row.cases[0], dtype, device, MemoryLayout::kContiguous, 1);
      const Tensor wanted = row.call(in)[0];
      const AutocastMode autocast(device.type());
      if (row.out) {
        Tensor out = empty({0}, wanted.options());
        row.out(out, in);
        expect_close(out, to_array(wanted), 0, row.name + " out=");
      }
      if (!row.inplace || !wanted.sizes().equals(in[0].sizes())) continue;
      Tensors copies = in;
      copies[0] = in[0].clone();
      row.inplace(copies[0], copies);
      expect_close(copies[0].to(wanted.scalar_type()), to_array(wanted), 0, row.name + "_");
    }
}

TEST_P(OpAutocast, DoesNotChangeOtherDeviceTypes) {
  const Row& row = GetParam();
  for (const Device device : devices()) {
    const DeviceType other = device.is_cpu() ? kCUDA : kCPU;
    const ModesGuard guard;
    autocast::set_autocast_enabled(other, true);
    for (const ScalarType dtype : {kFloat, kHalf}) {
      if (!(row.dtypes >> unsigned(dtype) & 1u)) continue;
      const Tensors in = make_inputs(row.cases[0], dtype, device, MemoryLayout::kContiguous, 1);
      EXPECT_EQ(row.call(in)[0].scalar_type(), result_dtype(row, 0, dtype))
          << row.name << " of " << name_of(dtype) << " on " << device;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpAutocast, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

Tensor ones_of(IntArrayRef sizes, ScalarType dtype, Device device) {
  return ones(sizes, TensorOptions(dtype).device(device));
}

TEST(Autocast, UnlistedOpsPromoteAsUsual) {
  for (const Device device : devices()) {
    const AutocastMode autocast(device.type());
    const Tensor half = ones_of({2, 2}, kHalf, device), scalar = ones_of({}, kFloat, device),
                 float32 = ones_of({2, 2}, kFloat, device);
    // A 0-d tensor does not decide the dtype.
    for (const Tensor& result :
         {half + scalar, half - scalar, half * scalar, half / scalar, half.maximum(scalar),
          half.minimum(scalar), where(half.gt(0), half, scalar), half + 1.5})
      EXPECT_EQ(result.scalar_type(), kHalf) << device;
    EXPECT_EQ((half + float32).scalar_type(), kFloat) << device;
  }
}

TEST(Autocast, WidestPolicyOnCuda) {
  for (const Device device : devices()) {
    const AutocastMode autocast(device.type());
    const Tensor half = ones_of({2, 2}, kHalf, device), scalar = ones_of({}, kFloat, device),
                 float32 = ones_of({2, 2}, kFloat, device);
    const Tensor index = zeros({2, 2}, TensorOptions(kLong).device(device));
    // Unlike type promotion, PyTorch's widest policy lets 0-d tensors decide the dtype.
    EXPECT_EQ(half.atan2(scalar).scalar_type(), device.is_cuda() ? kFloat : kHalf) << device;
    if (device.is_cuda()) {
      EXPECT_EQ(half.scatter_add(0, index, float32).scalar_type(), kFloat) << device;
      EXPECT_EQ(float32.scatter_add(0, index, half).scalar_type(), kFloat) << device;
    } else {
      EXPECT_THROW(half.scatter_add(0, index, float32), Error);
    }
    EXPECT_EQ(cat({half, float32}).scalar_type(), kFloat) << device;
    EXPECT_EQ(stack({half, half}).scalar_type(), kHalf) << device;
  }
}

TEST(Autocast, IneligibleArgumentsKeepTheirDtype) {
  for (const Device device : devices()) {
    const AutocastMode autocast(device.type());
    const Tensor float32 = ones_of({2, 2}, kFloat, device),
                 float64 = ones_of({2, 2}, kDouble, device), half = ones_of({2, 2}, kHalf, device),
                 int64 = ones_of({2, 2}, kLong, device);
    EXPECT_THROW(float32.mm(float64), Error) << device;
    EXPECT_EQ(int64.mm(int64).scalar_type(), kLong) << device;
    EXPECT_EQ(int64.sum().scalar_type(), kLong) << device;
    EXPECT_EQ(float64.pow(half).scalar_type(), kDouble) << device;
    EXPECT_EQ(half.sum(kHalf).scalar_type(), kHalf) << device;
    EXPECT_EQ(half.sum(kDouble).scalar_type(), kDouble) << device;
    // On CUDA, pow casts the tensor to float32, whatever the exponent.
    EXPECT_EQ(half.pow(2).scalar_type(), device.is_cuda() ? kFloat : kHalf) << device;
    EXPECT_EQ(ones_of({2, 2}, kFloat, kMeta).mm(ones_of({2, 2}, kFloat, kMeta)).scalar_type(),
              kFloat);
  }
}

/// On the CPU, cells and gru multiply matrices in autocast's dtype, and the rest promotes, as in
/// PyTorch: a layer's half output goes in beside a float32 state.
TEST(Autocast, RecurrentOpsPromoteOnCpu) {
  const AutocastMode autocast(kCPU, kBFloat16);
  const Tensor x = randn({2, 3}), w_ih = randn({16, 3}), w_hh = randn({16, 4}), h = randn({2, 4});
  const auto rows = [](const Tensor& weight, int64_t gates) {
    return weight.narrow(0, 0, 4 * gates);
  };
  for (const ScalarType of_input : {kFloat, kBFloat16})
    for (const ScalarType of_state : {kFloat, kBFloat16}) {
      const Tensor in = x.to(of_input), state = h.to(of_state);
      EXPECT_EQ(gru_cell(in, state, rows(w_ih, 3), rows(w_hh, 3)).scalar_type(), of_state);
      EXPECT_EQ(rnn_tanh_cell(in, state, rows(w_ih, 1), rows(w_hh, 1)).scalar_type(), kBFloat16);
      EXPECT_EQ(rnn_relu_cell(in, state, rows(w_ih, 1), rows(w_hh, 1)).scalar_type(), kBFloat16);
      const auto [new_h, new_c] = lstm_cell(in, {state, state}, w_ih, w_hh);
      EXPECT_EQ(new_h.scalar_type(), of_state);
      EXPECT_EQ(new_c.scalar_type(), of_state);
      const std::vector<Tensor> params{rows(w_ih, 3), rows(w_hh, 3)};
      const auto [output, last] =
          gru(in.unsqueeze(0), state.unsqueeze(0), params, false, 1, 0, false, false, false);
      EXPECT_EQ(output.scalar_type(), of_state);
      EXPECT_EQ(last.scalar_type(), of_state);
    }
}

/// The step's formula with casts in the places where PyTorch casts.
TEST(Autocast, GruCellRoundsItsProductsOnCpu) {
  const Tensor x = randn({5, 3}), h = randn({5, 4}), w_ih = randn({12, 3}), w_hh = randn({12, 4});
  const auto product = [](const Tensor& a, const Tensor& weight) {
    return a.to(kBFloat16).matmul(weight.to(kBFloat16).t()).chunk(3, 1);
  };
  const auto from_x = product(x, w_ih), from_h = product(h, w_hh);
  const Tensor reset = (from_x[0] + from_h[0]).sigmoid(),
               update = (from_x[1] + from_h[1]).sigmoid(),
               candidate = (from_x[2] + reset * from_h[2]).tanh();
  const Tensor expected = candidate + update * (h - candidate);
  const AutocastMode autocast(kCPU, kBFloat16);
  EXPECT_TRUE(gru_cell(x, h, w_ih, w_hh).equal(expected));
}

TEST(Autocast, PreluCastsItsWeight) {
  for (const Device device : devices()) {
    const AutocastMode autocast(device.type(), kHalf);
    const Tensor half = ones_of({2, 2}, kHalf, device), weight = ones_of({1}, kFloat, device);
    EXPECT_EQ(half.prelu(weight).scalar_type(), kHalf) << device;
    EXPECT_EQ(half.to(kFloat).prelu(weight).scalar_type(), kHalf) << device;
    EXPECT_THROW(half.prelu(weight.to(kDouble)), Error) << device;
  }
}

TEST(Autocast, ChecksOfDtypesFollowTheCasts) {
  const AutocastMode autocast(kCPU, kBFloat16);
  const Tensor a = randn({3, 2}), b = randn({3, 1}), half_b = b.to(kBFloat16);
  EXPECT_TRUE(std::get<0>(linalg_lstsq(a, half_b))
                  .allclose(std::get<0>(linalg_lstsq(a, half_b.to(kFloat)))));
  const auto [q, tau] = a.geqrf();
  EXPECT_EQ(linalg_householder_product(q, tau.to(kBFloat16)).scalar_type(), kFloat);
  EXPECT_EQ(affine_grid_generator(ones({1, 2, 3}), {1, 1, 2, 2}, false).scalar_type(), kBFloat16);
}

TEST(Autocast, SumsOfHalfsDoNotOverflowOnCuda) {
  for (const Device device : devices()) {
    if (!device.is_cuda()) continue;
    const Tensor large = ones_of({4}, kHalf, device) * 60000;
    EXPECT_TRUE(std::isinf(large.sum().item<double>()));
    const AutocastMode autocast(kCUDA);
    EXPECT_NEAR(large.sum().item<double>(), 4 * 60000.0, 200);
  }
}

}  // namespace
}  // namespace hearth::testing
