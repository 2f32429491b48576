#include <map>

#include "distributed/flat_tensor.h"
#include "hearth/distributed/collectives.h"
#include "hearth/distributed/ddp_comm_hooks.h"
#include "hearth/operators.h"

namespace hearth::distributed::algorithms::ddp_comm_hooks {

namespace {

/// A gradient as a matrix [n, m] with its approximation p [n, r] times q [m, r] transposed.
struct Factored {
  Tensor matrix, p, q;
};

/// The gradients of one bucket, and the data that it communicates: flat tensors of its vectors, of
/// all p and of all q.
struct Parts {
  std::vector<Tensor> vectors;  // the gradients that are not compressed
  std::vector<Factored> matrices;
  FlatTensor flat_vectors, ps, qs;
};

/// Makes the columns orthonormal: by QR, or by Gram-Schmidt with this epsilon added to the norms.
void orthogonalize(Tensor matrix, double epsilon) {
  if (epsilon == 0) {
    const ScalarType dtype = matrix.scalar_type();
    const bool is_half = dtype == kHalf || dtype == kBFloat16;
    matrix.copy_(std::get<0>(linalg_qr(is_half ? matrix.to(kFloat) : matrix)));
    return;
  }
  for (int64_t i = 0; i < matrix.size(1); ++i) {
    Tensor column = matrix.narrow(1, i, 1);
    column.div_(column.norm() + epsilon);
    const int64_t rest = matrix.size(1) - i - 1;
    if (rest == 0) return;
    Tensor others = matrix.narrow(1, i + 1, rest);
    others.sub_((column * others).sum({0}) * column);
  }
}

}  // namespace

class PowerSGDState {
 public:
  explicit PowerSGDState(const PowerSGDOptions& options);
  Future communicate(GradBucket& bucket);

 private:
  /// The rank r of the matrix's approximation.
  int64_t rank_of(const Tensor& matrix) const;
  bool is_compressed(const Tensor& gradient) const;
  Parts divide(GradBucket& bucket) const;
  void begin_factors(size_t bucket, Parts& parts);
  void multiply_back(const Parts& parts) const;
  Future sum(const FlatTensor& flat) const {
    return Future(
        all_reduce(flat.buffer(), ReduceOp::SUM, options_.process_group(), /*async_op=*/true));
  }

  const PowerSGDOptions options_;
  Generator generator_;
  int64_t step_ = 0;
  std::map<size_t, Tensor> errors_;    // of each bucket
  std::map<size_t, FlatTensor> last_;  // the factors q of each bucket
};

PowerSGDState::PowerSGDState(const PowerSGDOptions& options)
    : options_(options), generator_(make_generator()) {
  generator_.set_current_seed(options.random_seed());
  HEARTH_CHECK_AS(ValueError, options.matrix_approximation_rank() > 0,
                  "matrix_approximation_rank must be positive, but got ",
                  options.matrix_approximation_rank());
  HEARTH_CHECK_AS(
      ValueError,
      options.start_powerSGD_iter() > 1 || !(options.use_error_feedback() || options.warm_start()),
      "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
      "enabled, because PowerSGD can only be applied after the first two iterations in "
      "DDP.");
}

bool PowerSGDState::is_compressed(const Tensor& gradient) const {
  if (gradient.dim() < 2) return false;
  const auto rows = static_cast<double>(gradient.size(0));
  const auto columns = static_cast<double>(gradient.numel()) / rows;
  const auto rank = static_cast<double>(options_.matrix_approximation_rank());
  return (rows + columns) * rank * options_.min_compression_rate() < rows * columns;
}

int64_t PowerSGDState::rank_of(const Tensor& matrix) const {
  return std::min({matrix.size(0), matrix.size(1), options_.matrix_approximation_rank()});
}

Parts PowerSGDState::divide(GradBucket& bucket) const {
  Parts parts;
  int64_t start = 0;
  std::vector<Tensor> ps, qs;
  for (const Tensor& gradient : bucket.gradients()) {
    const Tensor flat = bucket.buffer().narrow(0, start, gradient.numel());
    start += gradient.numel();
    if (!is_compressed(gradient)) {
      parts.vectors.push_back(flat);
      continue;
    }
    Factored factored;
    factored.matrix = flat.view({gradient.size(0), -1});
    const int64_t rank = rank_of(factored.matrix);
    ps.push_back(empty({factored.matrix.size(0), rank}, flat.options()));
    qs.push_back(empty({factored.matrix.size(1), rank}, flat.options()));
    parts.matrices.push_back(std::move(factored));
  }
  if (!parts.vectors.empty()) parts.flat_vectors = FlatTensor(parts.vectors);
  if (ps.empty()) return parts;
  parts.ps = FlatTensor(ps);
  parts.qs = FlatTensor(qs);
  for (size_t i = 0; i < ps.size(); ++i) {
    parts.matrices[i].p = parts.ps.views()[i];
    parts.matrices[i].q = parts.qs.views()[i];
  }
  return parts;
}

/// Fills q with orthonormal columns, and p with matrix times q.
void PowerSGDState::begin_factors(size_t bucket, Parts& parts) {
  const auto last = last_.find(bucket);
  const bool is_warm = options_.warm_start() && last != last_.end();
  if (is_warm) Tensor(parts.qs.buffer()).copy_(last->second.buffer());
  for (Factored& factored : parts.matrices) {
    if (!is_warm) factored.q.copy_(randn(factored.q.sizes(), generator_, TensorOptions(kFloat)));
    orthogonalize(factored.q, options_.orthogonalization_epsilon());
    factored.p.copy_(factored.matrix.matmul(factored.q));
  }
}

/// Computes q from the sum of the ranks' p, averages q over the ranks, and writes the
/// approximations to the matrices.
void PowerSGDState::multiply_back(const Parts& parts) const {
  for (Factored factored : parts.matrices) {
    orthogonalize(factored.p, options_.orthogonalization_epsilon());
    factored.q.copy_(factored.matrix.t().matmul(factored.p));
  }
  sum(parts.qs).wait();
  Tensor(parts.qs.buffer()).div_(get_world_size(options_.process_group()));
  for (Factored factored : parts.matrices) factored.matrix.copy_(factored.p.matmul(factored.q.t()));
}

Future PowerSGDState::communicate(GradBucket& bucket) {
  const bool compresses = step_ >= options_.start_powerSGD_iter();
  if (bucket.is_last()) ++step_;
  if (!compresses) return allreduce_hook(options_.process_group())(bucket);
  const size_t index = bucket.index();
  Tensor buffer = bucket.buffer(), input;
  if (options_.use_error_feedback()) {
    if (errors_[index].defined()) buffer.add_(errors_[index]);
    input = buffer.clone();
  }
  const auto parts = std::make_shared<Parts>(divide(bucket));
  std::vector<Future> sums;
  if (!parts->vectors.empty()) {
    parts->flat_vectors.pack(parts->vectors);
    sums.push_back(sum(parts->flat_vectors));
  }
  if (!parts->matrices.empty()) {
    begin_factors(index, *parts);
    sums.push_back(sum(parts->ps));
  }
  return sums.back().then([this, parts, sums, index, buffer, input](const Future&) {
    for (const Future& part : sums) part.wait();
    if (!parts->vectors.empty()) {
      Tensor(parts->flat_vectors.buffer()).div_(get_world_size(options_.process_group()));
      parts->flat_vectors.unpack(parts->vectors);
    }
    if (!parts->matrices.empty()) {
      multiply_back(*parts);
      last_[index] = parts->qs;
    }
    if (input.defined()) errors_[index] = input - buffer;
    return buffer;
  });
}

std::shared_ptr<PowerSGDState> make_powerSGD_state(const PowerSGDOptions& options) {
  return std::make_shared<PowerSGDState>(options);
}

CommHook powerSGD_hook(std::shared_ptr<PowerSGDState> state) {
  HEARTH_CHECK_AS(ValueError, state, "powerSGD_hook needs a state, but got an empty pointer");
  return [state = std::move(state)](GradBucket& bucket) { return state->communicate(bucket); };
}

}  // namespace hearth::distributed::algorithms::ddp_comm_hooks
