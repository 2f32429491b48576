// The collectives that combine tensors, and broadcast and barrier.

#include "distributed/new_work.h"
#include "hearth/operators.h"

namespace hearth::distributed {

WorkPtr ProcessGroup::allreduce(std::vector<Tensor>& tensors, const AllreduceOptions& options) {
  const Tensor tensor = only(tensors, OpType::ALLREDUCE);
  const ReduceOp op = options.reduceOp;
  check_reduction(member(), tensor, op, OpType::ALLREDUCE);
  const auto work = new_work(OpType::ALLREDUCE, {}, {tensor}, tensor);
  work->call.reduces = true;
  work->call.op = op;
  work->body = [tensor, op, size = getSize()](Backend& backend, const BackendCall& call) {
    const StagedTensor values(tensor, StagedTensor::kReadWrite, backend.device());
    const Reduction reduction(values.staged(), op, backend, size);
    reduction.begin(values.staged());
    if (reduction.count > 0)
      backend.all_reduce(values.data(), reduction.count, reduction.dtype, reduction.op, call);
    reduction.finish(values.staged());
    values.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::reduce(std::vector<Tensor>& tensors, const ReduceOptions& options) {
  const Tensor tensor = only(tensors, OpType::REDUCE);
  const ReduceOp op = options.reduceOp;
  check_reduction(member(), tensor, op, OpType::REDUCE);
  check_rank(options.rootRank, getSize(), OpType::REDUCE);
  const int root = static_cast<int>(options.rootRank);
  const auto work = new_work(OpType::REDUCE, {}, {tensor}, tensor);
  work->call.reduces = true;
  work->call.op = op;
  work->call.peer = root;
  work->body = [tensor, op, root, rank = getRank(), size = getSize()](Backend& backend,
                                                                      const BackendCall& call) {
    const StagedTensor values(tensor, StagedTensor::kReadWrite, backend.device());
    const Reduction reduction(values.staged(), op, backend, size);
    if (reduction.count == 0) return;
    // On ranks other than the root, the backend may use the memory for partial results.
    const Tensor memory = rank == root ? values.staged() : values.staged().clone();
    reduction.begin(memory);
    backend.reduce(memory.data_ptr(), reduction.count, reduction.dtype, reduction.op, root, call);
    if (rank != root) return;
    reduction.finish(memory);
    values.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::reduce_scatter(std::vector<Tensor>& outputs,
                                     std::vector<std::vector<Tensor>>& inputs,
                                     const ReduceScatterOptions& options) {
  const Tensor output = only(outputs, OpType::REDUCE_SCATTER);
  HEARTH_CHECK_AS(ValueError, inputs.size() == 1,
                  "reduce_scatter: requires a single-element list of input lists");
  const std::vector<Tensor> parts = inputs[0];
  const ReduceOp op = options.reduceOp;
  check_reduction(member(), output, op, OpType::REDUCE_SCATTER);
  check_list(parts, getSize(), output, OpType::REDUCE_SCATTER);
  const auto work = new_work(OpType::REDUCE_SCATTER, parts, {output}, output);
  work->call.reduces = true;
  work->call.op = op;
  work->body = [parts, output, op](Backend& backend, const BackendCall& call) {
    const StagedTensor out(output, StagedTensor::kWrite, backend.device());
    const Reduction reduction(out.staged(), op, backend, static_cast<int>(parts.size()));
    const StagedTensors in(parts, backend.device());
    in.read();
    reduction.begin(in.staged());
    if (reduction.count > 0)
      backend.reduce_scatter(in.data(), out.data(), reduction.count, reduction.dtype, reduction.op,
                             call);
    reduction.finish(out.staged());
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::_reduce_scatter_base(Tensor& output, Tensor& input,
                                           const ReduceScatterOptions& options) {
  constexpr OpType kType = OpType::_REDUCE_SCATTER_BASE;
  const ReduceOp op = options.reduceOp;
  check_reduction(member(), output, op, kType);
  check_tensor(input, kType);
  HEARTH_CHECK_AS(ValueError, input.scalar_type() == output.scalar_type(),
                  "input tensor must be the same type as the output tensor.");
  HEARTH_CHECK_AS(ValueError, input.numel() == output.numel() * getSize(),
                  "input tensor must be the same size as output size times world size");
  const auto work = new_work(kType, {input}, {output}, output);
  work->call.reduces = true;
  work->call.op = op;
  work->body = [input, output, op, size = getSize()](Backend& backend, const BackendCall& call) {
    const StagedTensor in(input, StagedTensor::kRead, backend.device());
    const StagedTensor out(output, StagedTensor::kWrite, backend.device());
    const Reduction reduction(out.staged(), op, backend, size);
    const Tensor source = reduction.changes_input() ? in.staged().clone() : in.staged();
    reduction.begin(source);
    if (reduction.count > 0)
      backend.reduce_scatter(source.data_ptr(), out.data(), reduction.count, reduction.dtype,
                             reduction.op, call);
    reduction.finish(out.staged());
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::broadcast(std::vector<Tensor>& tensors, const BroadcastOptions& options) {
  const Tensor tensor = only(tensors, OpType::BROADCAST);
  check_rank(options.rootRank, getSize(), OpType::BROADCAST);
  const int root = static_cast<int>(options.rootRank);
  const auto work = new_work(OpType::BROADCAST, {}, {tensor}, tensor);
  work->call.peer = root;
  work->body = [tensor, root, is_root = getRank() == root](Backend& backend,
                                                           const BackendCall& call) {
    const StagedTensor staged(tensor, is_root ? StagedTensor::kRead : StagedTensor::kWrite,
                              backend.device());
    if (staged.bytes() > 0) backend.broadcast(staged.data(), staged.bytes(), root, call);
    if (!is_root) staged.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::barrier(const BarrierOptions& options) {
  const auto work = new_work(OpType::BARRIER, {}, {}, {});
  work->body = [](Backend& backend, const BackendCall& call) { backend.barrier(call); };
  return member().submit(work, options.timeout);
}

}  // namespace hearth::distributed
