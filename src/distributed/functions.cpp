// The functions of Python's torch.distributed, as calls of ProcessGroup's methods.

#include "distributed/transfers.h"
#include "distributed/world.h"
#include "hearth/distributed/collectives.h"

namespace hearth::distributed {

namespace {

/// Whether this process belongs to the group; warns if not.
bool takes_part(const ProcessGroup& group, const char* function) {
  if (group.communicator()) return true;
  warn(detail::str("Running ", function, " on global rank ", get_rank(),
                   " which does not belong to the given group."));
  return false;
}

WorkPtr waited(WorkPtr work, bool async_op) {
  if (!async_op) work->wait();
  return work;
}

/// Calls f with the group, and waits for the work unless `async_op`; null if this process does not
/// belong to the group.
template <class F>
WorkPtr call(const ProcessGroupPtr& group, const char* function, bool async_op, const F& f) {
  const ProcessGroupPtr resolved = resolve(group);
  if (!takes_part(*resolved, function)) return nullptr;
  return waited(f(*resolved), async_op);
}

template <class Options>
Options with_op(ReduceOp op) {
  Options options;
  options.reduceOp = op;
  return options;
}

using List = std::vector<Tensor>;
using Lists = std::vector<List>;

}  // namespace

WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const ProcessGroupPtr& group, bool async_op) {
  return call(group, "all_reduce", async_op, [&](ProcessGroup& resolved) {
    List list{tensor};
    return resolved.allreduce(list, with_op<AllreduceOptions>(op));
  });
}

WorkPtr broadcast(const Tensor& tensor, int src, const ProcessGroupPtr& group, bool async_op) {
  return call(group, "broadcast", async_op, [&](ProcessGroup& resolved) {
    List list{tensor};
    BroadcastOptions options;
    options.rootRank = get_group_rank(group, src);
    return resolved.broadcast(list, options);
  });
}

WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op, const ProcessGroupPtr& group,
               bool async_op) {
  return call(group, "reduce", async_op, [&](ProcessGroup& resolved) {
    List list{tensor};
    auto options = with_op<ReduceOptions>(op);
    options.rootRank = get_group_rank(group, dst);
    return resolved.reduce(list, options);
  });
}

WorkPtr all_gather(const List& tensors, const Tensor& tensor, const ProcessGroupPtr& group,
                   bool async_op) {
  return call(group, "all_gather", async_op, [&](ProcessGroup& resolved) {
    Lists outputs{tensors};
    List inputs{tensor};
    return resolved.allgather(outputs, inputs);
  });
}

WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input,
                               const ProcessGroupPtr& group, bool async_op) {
  return call(group, "all_gather_into_tensor", async_op, [&](ProcessGroup& resolved) {
    Tensor out = output, in = input;
    return resolved._allgather_base(out, in);
  });
}

WorkPtr gather(const Tensor& tensor, const List& gather_list, int dst, const ProcessGroupPtr& group,
               bool async_op) {
  return call(group, "gather", async_op, [&](ProcessGroup& resolved) {
    GatherOptions options;
    options.rootRank = get_group_rank(group, dst);
    const bool is_root = resolved.getRank() == options.rootRank;
    HEARTH_CHECK_AS(ValueError, is_root == !gather_list.empty(),
                    is_root ? "Argument gather_list must be specified on destination rank."
                            : "Argument gather_list must NOT be specified on non-destination "
                              "ranks.");
    Lists outputs;
    if (is_root) outputs.push_back(gather_list);
    List inputs{tensor};
    return resolved.gather(outputs, inputs, options);
  });
}

WorkPtr scatter(const Tensor& tensor, const List& scatter_list, int src,
                const ProcessGroupPtr& group, bool async_op) {
  return call(group, "scatter", async_op, [&](ProcessGroup& resolved) {
    ScatterOptions options;
    options.rootRank = get_group_rank(group, src);
    const bool is_root = resolved.getRank() == options.rootRank;
    HEARTH_CHECK_AS(ValueError, is_root == !scatter_list.empty(),
                    is_root ? "Argument scatter_list must be specified on source rank."
                            : "Argument scatter_list must NOT be specified on non-source ranks.");
    Lists inputs;
    if (is_root) inputs.push_back(scatter_list);
    List outputs{tensor};
    return resolved.scatter(outputs, inputs, options);
  });
}

WorkPtr reduce_scatter(const Tensor& output, const List& inputs, ReduceOp op,
                       const ProcessGroupPtr& group, bool async_op) {
  return call(group, "reduce_scatter", async_op, [&](ProcessGroup& resolved) {
    List outputs{output};
    Lists lists{inputs};
    return resolved.reduce_scatter(outputs, lists, with_op<ReduceScatterOptions>(op));
  });
}

WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp op,
                              const ProcessGroupPtr& group, bool async_op) {
  return call(group, "reduce_scatter_tensor", async_op, [&](ProcessGroup& resolved) {
    Tensor out = output, in = input;
    return resolved._reduce_scatter_base(out, in, with_op<ReduceScatterOptions>(op));
  });
}

WorkPtr all_to_all(const List& outputs, const List& inputs, const ProcessGroupPtr& group,
                   bool async_op) {
  return call(group, "all_to_all", async_op, [&](ProcessGroup& resolved) {
    List out = outputs, in = inputs;
    return resolved.alltoall(out, in);
  });
}

WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          const std::vector<int64_t>& output_split_sizes,
                          const std::vector<int64_t>& input_split_sizes,
                          const ProcessGroupPtr& group, bool async_op) {
  return call(group, "all_to_all_single", async_op, [&](ProcessGroup& resolved) {
    Tensor out = output, in = input;
    return resolved.alltoall_base(out, in, output_split_sizes, input_split_sizes);
  });
}

WorkPtr barrier(const ProcessGroupPtr& group, bool async_op) {
  return call(group, "barrier", async_op,
              [&](ProcessGroup& resolved) { return resolved.barrier(); });
}

void monitored_barrier(const ProcessGroupPtr& group, std::chrono::milliseconds timeout,
                       bool wait_all_ranks) {
  const ProcessGroupPtr resolved = resolve(group);
  if (!takes_part(*resolved, "monitored_barrier")) return;
  BarrierOptions options;
  options.timeout = timeout;
  resolved->monitoredBarrier(options, wait_all_ranks);
}

WorkPtr isend(const Tensor& tensor, int dst, const ProcessGroupPtr& group, int tag) {
  return call(group, "isend", true, [&](ProcessGroup& resolved) {
    List list{tensor};
    return resolved.send(list, get_group_rank(group, dst), tag);
  });
}

WorkPtr irecv(const Tensor& tensor, int src, const ProcessGroupPtr& group, int tag) {
  return call(group, "irecv", true, [&](ProcessGroup& resolved) {
    List list{tensor};
    return src < 0 ? resolved.recvAnysource(list, tag)
                   : resolved.recv(list, get_group_rank(group, src), tag);
  });
}

P2POp::P2POp(Function op, Tensor data, int other, ProcessGroupPtr members, int number)
    : sends(op == isend),
      tensor(std::move(data)),
      peer(other),
      group(std::move(members)),
      tag(number) {
  HEARTH_CHECK_AS(ValueError, op == isend || op == irecv,
                  "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                  "``torch.distributed.irecv``.");
}

std::vector<WorkPtr> batch_isend_irecv(const std::vector<P2POp>& p2p_op_list) {
  HEARTH_CHECK_AS(ValueError, !p2p_op_list.empty(),
                  "batch_isend_irecv: the list has no send and no receive");
  const ProcessGroupPtr group = resolve(p2p_op_list[0].group);
  std::vector<P2POp> transfers = p2p_op_list;
  for (P2POp& transfer : transfers) {
    HEARTH_CHECK_AS(ValueError, resolve(transfer.group) == group,
                    "All ops need to use the same group.");
    if (group->communicator()) transfer.peer = get_group_rank(group, transfer.peer);
  }
  if (!takes_part(*group, "batch_isend_irecv")) return {};
  return std::vector<WorkPtr>(transfers.size(), begin_transfers(*group->communicator(), transfers));
}

void send(const Tensor& tensor, int dst, const ProcessGroupPtr& group, int tag) {
  if (const WorkPtr work = isend(tensor, dst, group, tag)) work->wait();
}

int recv(const Tensor& tensor, int src, const ProcessGroupPtr& group, int tag) {
  const WorkPtr work = irecv(tensor, src, group, tag);
  if (!work) return -1;
  work->wait();
  return get_global_rank(group, work->sourceRank());
}

}  // namespace hearth::distributed
