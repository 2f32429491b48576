// The collectives that move tensors without combining them, except broadcast (reductions.cpp).

#include <numeric>

#include "distributed/new_work.h"

namespace hearth::distributed {

WorkPtr ProcessGroup::allgather(std::vector<std::vector<Tensor>>& outputs,
                                std::vector<Tensor>& inputs, const AllgatherOptions& options) {
  const Tensor input = only(inputs, OpType::ALLGATHER);
  check_tensor(input, OpType::ALLGATHER);
  HEARTH_CHECK_AS(ValueError, outputs.size() == 1,
                  "all_gather: requires a single-element list of output lists");
  const std::vector<Tensor> parts = outputs[0];
  check_list(parts, getSize(), input, OpType::ALLGATHER);
  const auto work = new_work(OpType::ALLGATHER, {input}, parts, input);
  work->body = [input, parts](Backend& backend, const BackendCall& call) {
    const StagedTensor in(input, StagedTensor::kRead, backend.device());
    const StagedTensors out(parts, backend.device());
    if (in.bytes() > 0) backend.all_gather(in.data(), out.data(), in.bytes(), call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::_allgather_base(Tensor& output, Tensor& input,
                                      const AllgatherOptions& options) {
  constexpr OpType kType = OpType::_ALLGATHER_BASE;
  check_tensor(output, kType);
  check_tensor(input, kType);
  HEARTH_CHECK_AS(ValueError, input.scalar_type() == output.scalar_type(),
                  "output tensor must have the same type as input tensor");
  HEARTH_CHECK_AS(ValueError, output.numel() == input.numel() * getSize(),
                  "output tensor size must be equal to world_size times input tensor size");
  const auto work = new_work(kType, {input}, {output}, input);
  work->body = [in = input, output](Backend& backend, const BackendCall& call) {
    const StagedTensor staged(in, StagedTensor::kRead, backend.device());
    const StagedTensor out(output, StagedTensor::kWrite, backend.device());
    if (staged.bytes() > 0) backend.all_gather(staged.data(), out.data(), staged.bytes(), call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::gather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                             const GatherOptions& options) {
  const Tensor input = only(inputs, OpType::GATHER);
  check_tensor(input, OpType::GATHER);
  check_rank(options.rootRank, getSize(), OpType::GATHER);
  const int root = static_cast<int>(options.rootRank);
  const bool is_root = getRank() == root;
  HEARTH_CHECK_AS(ValueError, outputs.size() == (is_root ? 1 : 0), "gather: ",
                  is_root ? "requires a single-element list of output lists on the root"
                          : "requires empty output on non-root");
  const std::vector<Tensor> parts = is_root ? outputs[0] : std::vector<Tensor>();
  if (is_root) check_list(parts, getSize(), input, OpType::GATHER);
  const auto work = new_work(OpType::GATHER, {input}, parts, input);
  work->call.peer = root;
  work->body = [input, parts, root](Backend& backend, const BackendCall& call) {
    const StagedTensor in(input, StagedTensor::kRead, backend.device());
    const StagedTensors out(parts, backend.device());
    if (in.bytes() > 0) backend.gather(in.data(), out.data(), in.bytes(), root, call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::scatter(std::vector<Tensor>& outputs,
                              std::vector<std::vector<Tensor>>& inputs,
                              const ScatterOptions& options) {
  const Tensor output = only(outputs, OpType::SCATTER);
  check_tensor(output, OpType::SCATTER);
  check_rank(options.rootRank, getSize(), OpType::SCATTER);
  const int root = static_cast<int>(options.rootRank);
  const bool is_root = getRank() == root;
  HEARTH_CHECK_AS(ValueError, inputs.size() == (is_root ? 1 : 0), "scatter: ",
                  is_root ? "requires a single-element list of input lists on the root"
                          : "requires empty input on non-root");
  const std::vector<Tensor> parts = is_root ? inputs[0] : std::vector<Tensor>();
  if (is_root) check_list(parts, getSize(), output, OpType::SCATTER);
  const auto work = new_work(OpType::SCATTER, parts, {output}, output);
  work->call.peer = root;
  work->body = [parts, output, root](Backend& backend, const BackendCall& call) {
    const StagedTensor out(output, StagedTensor::kWrite, backend.device());
    if (out.bytes() == 0) return;
    const StagedTensors in(parts, backend.device());
    in.read();
    backend.scatter(in.data(), out.data(), out.bytes(), root, call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

WorkPtr ProcessGroup::alltoall(std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
                               const AllToAllOptions& options) {
  constexpr OpType kType = OpType::ALLTOALL;
  for (const auto* const list : {&inputs, &outputs}) {
    HEARTH_CHECK_AS(ValueError, list->size() == static_cast<size_t>(getSize()),
                    "all_to_all: the lists need one tensor for each of ", getSize(), " ranks");
    for (const Tensor& tensor : *list) {
      check_tensor(tensor, kType);
      HEARTH_CHECK_AS(ValueError, tensor.scalar_type() == inputs[0].scalar_type(),
                      "all_to_all: all tensors must have one dtype, but there are ",
                      inputs[0].scalar_type(), " and ", tensor.scalar_type());
    }
  }
  const auto work = new_work(kType, inputs, outputs, inputs[0]);
  work->call.has_equal_sizes = false;
  work->body = [inputs, outputs](Backend& backend, const BackendCall& call) {
    const StagedTensors in(inputs, backend.device()), out(outputs, backend.device());
    in.read();
    backend.all_to_all(in.data(), in.bytes(), out.data(), out.bytes(), call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

namespace {

/// The bytes for each rank if a tensor is split along dimension 0. `sizes` are the rows for each
/// rank; if it is empty, all ranks get equally many.
std::vector<int64_t> split_bytes(const Tensor& tensor, const std::vector<int64_t>& sizes,
                                 int ranks) {
  const auto total = static_cast<int64_t>(tensor.nbytes());
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  if (sizes.empty()) {
    HEARTH_CHECK_AS(ValueError, rows % ranks == 0,
                    "Tensor's dim 0 does not divide equally across group size: ", rows, " and ",
                    ranks);
    return std::vector<int64_t>(static_cast<size_t>(ranks), total / ranks);
  }
  HEARTH_CHECK_AS(ValueError, sizes.size() == static_cast<size_t>(ranks),
                  "Number of tensor splits not equal to group size: ", sizes.size(), " and ",
                  ranks);
  std::vector<int64_t> bytes;
  for (const int64_t size : sizes) {
    HEARTH_CHECK_AS(ValueError, 0 <= size && size <= rows, "Split sizes must lie between 0 and ",
                    rows, ", got ", size);
    bytes.push_back(rows == 0 ? 0 : total / rows * size);
  }
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  HEARTH_CHECK_AS(ValueError, sum == rows, "Split sizes doesn't match total dim 0 size: ", sum,
                  " and ", rows);
  return bytes;
}

}  // namespace

WorkPtr ProcessGroup::alltoall_base(Tensor& output, Tensor& input,
                                    const std::vector<int64_t>& output_sizes,
                                    const std::vector<int64_t>& input_sizes,
                                    const AllToAllOptions& options) {
  constexpr OpType kType = OpType::ALLTOALL_BASE;
  check_tensor(output, kType);
  check_tensor(input, kType);
  HEARTH_CHECK_AS(ValueError, input.scalar_type() == output.scalar_type(),
                  "output tensor must have the same type as input tensor");
  const auto work = new_work(kType, {input}, {output}, input);
  work->call.has_equal_sizes = false;
  work->body = [in = input, output, in_bytes = split_bytes(input, input_sizes, getSize()),
                out_bytes = split_bytes(output, output_sizes, getSize())](Backend& backend,
                                                                          const BackendCall& call) {
    const StagedTensor staged(in, StagedTensor::kRead, backend.device());
    const StagedTensor out(output, StagedTensor::kWrite, backend.device());
    backend.all_to_all(staged.data(), in_bytes, out.data(), out_bytes, call);
    out.write_back();
  };
  return member().submit(work, options.timeout);
}

}  // namespace hearth::distributed
