#pragma once

#include <string>
#include <vector>

#include "hearth/distributed/init.h"
#include "hearth/ivalue.h"

/// The functions of Python's torch.distributed. A null group is the default group; `src` and `dst`
/// are ranks of the default group. The work that a function with async_op returns has ended, unless
/// async_op is true; a process that does not belong to the group gets a warning and null.
namespace hearth::distributed {

/// Combines the tensors of all ranks; each rank gets the result in place.
HEARTH_API WorkPtr all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                              const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// Copies the tensor of rank `src` to all ranks.
HEARTH_API WorkPtr broadcast(const Tensor& tensor, int src, const ProcessGroupPtr& group = nullptr,
                             bool async_op = false);
/// As all_reduce, but only rank `dst` gets the result; the tensors of the others are unchanged.
HEARTH_API WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
                          const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// Writes the tensor of each rank to `tensors[rank]`.
HEARTH_API WorkPtr all_gather(const std::vector<Tensor>& tensors, const Tensor& tensor,
                              const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// Writes the tensors of the ranks one after another to `output`.
HEARTH_API WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input,
                                          const ProcessGroupPtr& group = nullptr,
                                          bool async_op = false);
/// As all_gather on rank `dst` only; other ranks pass no list.
HEARTH_API WorkPtr gather(const Tensor& tensor, const std::vector<Tensor>& gather_list = {},
                          int dst = 0, const ProcessGroupPtr& group = nullptr,
                          bool async_op = false);
/// Copies scatter_list[rank] of rank `src` to each rank; other ranks pass no list.
HEARTH_API WorkPtr scatter(const Tensor& tensor, const std::vector<Tensor>& scatter_list = {},
                           int src = 0, const ProcessGroupPtr& group = nullptr,
                           bool async_op = false);
/// Combines the ranks' inputs[r] and writes the result to rank r's output.
HEARTH_API WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                  ReduceOp op = ReduceOp::SUM,
                                  const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// reduce_scatter of inputs that lie one after another in one tensor.
HEARTH_API WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                                         ReduceOp op = ReduceOp::SUM,
                                         const ProcessGroupPtr& group = nullptr,
                                         bool async_op = false);
/// Sends inputs[r] to rank r and receives outputs[r] from it.
HEARTH_API WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// all_to_all of parts of one tensor along dimension 0; the parts are equal if the sizes are empty.
HEARTH_API WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                                     const std::vector<int64_t>& output_split_sizes = {},
                                     const std::vector<int64_t>& input_split_sizes = {},
                                     const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// Waits until all ranks have called it.
HEARTH_API WorkPtr barrier(const ProcessGroupPtr& group = nullptr, bool async_op = false);
/// A barrier whose error names the first rank that has not reached it before the timeout or, with
/// wait_all_ranks, all of them.
HEARTH_API void monitored_barrier(const ProcessGroupPtr& group = nullptr,
                                  std::chrono::milliseconds timeout = kUnsetTimeout,
                                  bool wait_all_ranks = false);

/// Sends a tensor; a recv with equal size, dtype and tag must match it.
HEARTH_API void send(const Tensor& tensor, int dst, const ProcessGroupPtr& group = nullptr,
                     int tag = 0);
/// Receives a tensor from rank `src`, or from any rank if `src` is negative; returns the sender.
HEARTH_API int recv(const Tensor& tensor, int src = -1, const ProcessGroupPtr& group = nullptr,
                    int tag = 0);
HEARTH_API WorkPtr isend(const Tensor& tensor, int dst, const ProcessGroupPtr& group = nullptr,
                         int tag = 0);
HEARTH_API WorkPtr irecv(const Tensor& tensor, int src = -1, const ProcessGroupPtr& group = nullptr,
                         int tag = 0);

/// A send or a receive of batch_isend_irecv: `P2POp(isend, tensor, 1)`.
struct HEARTH_API P2POp {
  using Function = WorkPtr (*)(const Tensor&, int, const ProcessGroupPtr&, int);
  /// `op` is isend or irecv.
  P2POp(Function op, Tensor tensor, int peer, ProcessGroupPtr group = nullptr, int tag = 0);

  bool sends;
  Tensor tensor;
  int peer;
  ProcessGroupPtr group;
  int tag;
};
/// Begins sends and receives of one group together, so that none waits for another. All requests
/// that it returns end together.
HEARTH_API std::vector<WorkPtr> batch_isend_irecv(const std::vector<P2POp>& p2p_op_list);

// Communication of values that an IValue can hold: numbers, strings, tensors, lists, tuples and
// dicts.
/// The values of all ranks.
HEARTH_API std::vector<IValue> all_gather_object(const IValue& object,
                                                 const ProcessGroupPtr& group = nullptr);
/// The values of all ranks on rank `dst`; empty on the others.
HEARTH_API std::vector<IValue> gather_object(const IValue& object, int dst = 0,
                                             const ProcessGroupPtr& group = nullptr);
/// Replaces the values in the list by those of rank `src`.
HEARTH_API void broadcast_object_list(std::vector<IValue>& objects, int src = 0,
                                      const ProcessGroupPtr& group = nullptr);
/// objects[rank] of rank `src`; other ranks pass no list.
HEARTH_API IValue scatter_object(const std::vector<IValue>& objects = {}, int src = 0,
                                 const ProcessGroupPtr& group = nullptr);
HEARTH_API void send_object(const IValue& object, int dst, const ProcessGroupPtr& group = nullptr);
HEARTH_API IValue recv_object(int src, const ProcessGroupPtr& group = nullptr);

}  // namespace hearth::distributed
