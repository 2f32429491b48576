#include "distributed/new_work.h"

#include "hearth/operators.h"

namespace hearth::distributed {

Communicator::StatePtr new_work(OpType type, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs, const Tensor& same) {
  auto work = std::make_shared<Work::State>();
  work->call.type = type;
  if (same.defined()) {
    work->call.dtype = same.scalar_type();
    work->call.sizes = same.sizes().vec();
  }
  work->inputs = inputs;
  work->outputs = outputs;
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  for (const Tensor& tensor : all) {
    check_tensor(tensor, type);
    HEARTH_CHECK_AS(ValueError, tensor.device() == all[0].device(), name_of(type),
                    ": the tensors are on different devices, ", all[0].device(), " and ",
                    tensor.device());
  }
  for (const Tensor& tensor : outputs) check_writable(tensor);
  return work;
}

const Tensor& only(const std::vector<Tensor>& tensors, OpType type) {
  HEARTH_CHECK_AS(ValueError, tensors.size() == 1, name_of(type),
                  ": requires a single-element tensor list, got ", tensors.size(), " tensors");
  return tensors[0];
}

void check_tensor(const Tensor& tensor, OpType type) {
  HEARTH_CHECK_AS(ValueError, tensor.defined(), name_of(type), ": a tensor is undefined");
  HEARTH_CHECK_AS(ValueError, !tensor.is_meta(), name_of(type),
                  ": a tensor is on the device meta, so it has no elements");
}

void check_writable(const Tensor& tensor) {
  for (int64_t d = 0; d < tensor.dim(); ++d)
    HEARTH_CHECK_AS(ValueError, tensor.size(d) <= 1 || tensor.stride(d) != 0,
                    "unsupported operation: more than one element of the written-to tensor refers "
                    "to a single memory location. Please clone() the tensor before performing the "
                    "operation.");
}

void check_reduction(Communicator& group, const Tensor& tensor, ReduceOp op, OpType type) {
  check_tensor(tensor, type);
  const ScalarType dtype = tensor.scalar_type();
  if (op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR)
    HEARTH_CHECK_AS(ValueError, is_integral(dtype, true), "Cannot use ReduceOp.", as_text(op),
                    " with non-integral dtype (", name_of(type), " of ", dtype, ")");
  if (op == ReduceOp::AVG)
    HEARTH_CHECK_AS(ValueError, !is_integral(dtype, true),
                    "Cannot use ReduceOp.AVG with an integral dtype (", name_of(type), " of ",
                    dtype, "); the average may be no integer");
  if (is_complex(dtype))
    HEARTH_CHECK_AS(ValueError, op == ReduceOp::SUM || op == ReduceOp::AVG, name_of(type),
                    " does not support ", as_text(op), " on complex tensors");
  group.check_reduction(op, to_real(dtype));
}

void check_list(const std::vector<Tensor>& tensors, int count, const Tensor& like, OpType type) {
  HEARTH_CHECK_AS(ValueError, static_cast<int>(tensors.size()) == count, name_of(type),
                  ": the list needs one tensor for each of ", count, " ranks, but has ",
                  tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    check_tensor(tensors[i], type);
    HEARTH_CHECK_AS(ValueError, tensors[i].scalar_type() == like.scalar_type(), name_of(type),
                    ": Invalid tensor type at index ", i, ": expected ", like.scalar_type(),
                    ", got ", tensors[i].scalar_type());
    HEARTH_CHECK_AS(ValueError, tensors[i].sizes().equals(like.sizes()), name_of(type),
                    ": Invalid tensor size at index ", i, ": expected ", like.sizes(), ", got ",
                    tensors[i].sizes());
  }
}

void check_rank(int64_t rank, int size, OpType type) {
  HEARTH_CHECK_AS(ValueError, 0 <= rank && rank < size, name_of(type), ": invalid rank ", rank,
                  "; the group has ", size, " ranks");
}

Reduction::Reduction(const Tensor& tensor, ReduceOp wanted, const Backend& backend, int ranks)
    : dtype(to_real(tensor.scalar_type())),
      count(tensor.is_complex() ? 2 * tensor.numel() : tensor.numel()),
      op(backend.op_for(wanted)),
      divides(!(op == wanted)),
      size(ranks) {}

void Reduction::begin(const Tensor& input) const {
  if (changes_input()) input.div_(size);
}

void Reduction::finish(const Tensor& result) const {
  if (divides && !changes_input()) result.div_(size);
}

}  // namespace hearth::distributed
