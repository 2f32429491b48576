#include "distributed/call_info.h"

namespace hearth::distributed {

const char* as_text(ReduceOp op) {
  constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  return kNames[op.op_];
}

const char* name_of(OpType type) {
  switch (type) {
    case OpType::BROADCAST: return "broadcast";
    case OpType::ALLREDUCE: return "all_reduce";
    case OpType::REDUCE: return "reduce";
    case OpType::ALLGATHER: return "all_gather";
    case OpType::_ALLGATHER_BASE: return "all_gather_into_tensor";
    case OpType::GATHER: return "gather";
    case OpType::SCATTER: return "scatter";
    case OpType::REDUCE_SCATTER: return "reduce_scatter";
    case OpType::ALLTOALL_BASE: return "all_to_all_single";
    case OpType::ALLTOALL: return "all_to_all";
    case OpType::SEND: return "send";
    case OpType::RECV:
    case OpType::RECVANYSOURCE: return "recv";
    case OpType::BARRIER: return "barrier";
    case OpType::_REDUCE_SCATTER_BASE: return "reduce_scatter_tensor";
    case OpType::COALESCED: return "batch_isend_irecv";
    default: return "unknown call";
  }
}

namespace {

/// " from rank 1", " to rank 1" or " from any rank"; empty for calls without another rank.
std::string direction_of(const CallInfo& call) {
  if (call.type == OpType::RECVANYSOURCE) return " from any rank";
  if (call.peer < 0) return "";
  const bool receives =
      call.type == OpType::BROADCAST || call.type == OpType::SCATTER || call.type == OpType::RECV;
  return detail::str(receives ? " from" : " to", " rank ", call.peer);
}

}  // namespace

std::string CallInfo::text() const {
  std::string text = name_of(type);
  if (is_transfer())
    text += direction_of(*this);
  else
    text += detail::str(" number ", sequence, direction_of(*this));
  if (type == OpType::BARRIER || type == OpType::COALESCED) return text;
  text +=
      detail::str(": ", reduces ? detail::str(as_text(op), " of ") : "", hearth::name_of(dtype));
  if (has_equal_sizes) text += detail::str(" ", hearth::as_text(IntArrayRef(sizes)));
  if (user_tag != 0) text += detail::str(" with tag ", user_tag);
  return text;
}

uint32_t CallInfo::tag() const {
  uint64_t hash = 14695981039346656037u;  // FNV-1a over 64-bit words, then mixed
  const auto add = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  add(sequence);
  add(static_cast<uint64_t>(type));
  add(reduces ? uint64_t(op.op_) : 255);
  add(static_cast<uint64_t>(peer));
  add(static_cast<uint64_t>(dtype));
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  if (has_equal_sizes) add(static_cast<uint64_t>(count));
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdu;
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace hearth::distributed
