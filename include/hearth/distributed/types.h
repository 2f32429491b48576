#pragma once

#include <cstdint>
#include <mutex>  // std::chrono::milliseconds
#include <optional>
#include <vector>

#include "hearth/tensor.h"

/// Operations, kinds and options of collectives, with LibTorch's names.
namespace hearth::distributed {

/// The operation by which a collective combines the tensors of the ranks.
struct ReduceOp {
  enum RedOpType : uint8_t { SUM = 0, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };

  constexpr ReduceOp() = default;
  constexpr ReduceOp(RedOpType op) : op_(op) {}
  constexpr operator RedOpType() const { return op_; }
  friend constexpr bool operator==(ReduceOp a, ReduceOp b) { return a.op_ == b.op_; }
  friend constexpr bool operator==(ReduceOp a, RedOpType b) { return a.op_ == b; }

  RedOpType op_ = SUM;
};
HEARTH_API const char* as_text(ReduceOp op);  ///< "SUM"

/// The kinds of collectives and transfers.
enum class OpType : uint8_t {
  BROADCAST = 0,
  ALLREDUCE = 1,
  REDUCE = 3,
  ALLGATHER = 4,
  _ALLGATHER_BASE = 5,
  GATHER = 7,
  SCATTER = 8,
  REDUCE_SCATTER = 9,
  ALLTOALL_BASE = 10,
  ALLTOALL = 11,
  SEND = 12,
  RECV = 13,
  RECVANYSOURCE = 14,
  BARRIER = 15,
  _REDUCE_SCATTER_BASE = 16,
  COALESCED = 17,
  UNKNOWN = 100,
};
HEARTH_API const char* name_of(OpType type);  ///< Python's name: "all_reduce"

/// The timeout in options that stands for the group's timeout.
inline constexpr std::chrono::milliseconds kUnsetTimeout{-1};

struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
using ScatterOptions = GatherOptions;
struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
using AllToAllOptions = AllgatherOptions;
struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::optional<Device> device;
  bool asyncOp = true;
};

}  // namespace hearth::distributed
