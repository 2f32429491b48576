#include "distributed/nccl/nccl_types.h"

#include "hearth/error.h"

namespace hearth::distributed {

namespace {

ncclDataType_t nccl_dtype(ScalarType dtype) {
  switch (dtype) {
    case kChar: return ncclInt8;
    case kByte:
    case kBool: return ncclUint8;
    case kInt: return ncclInt32;
    case kLong: return ncclInt64;
    case kHalf: return ncclFloat16;
    case kBFloat16: return ncclBfloat16;
    case kFloat: return ncclFloat32;
    case kDouble: return ncclFloat64;
    default: break;
  }
  detail::fail<TypeError>("Input tensor data type is not supported for NCCL process group: ", dtype,
                          "; convert the tensor to another dtype");
}

/// For bools, bytes of 0 or 1: SUM is "or", the maximum; PRODUCT is "and", the minimum.
ncclRedOp_t op_of_bool(ReduceOp op) {
  switch (op.op_) {
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN:
    case ReduceOp::BAND: return ncclMin;
    case ReduceOp::SUM:
    case ReduceOp::MAX:
    case ReduceOp::BOR: return ncclMax;
    default: break;
  }
  detail::fail<ValueError>("Cannot use ReduceOp.", as_text(op), " of Bool with NCCL");
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op.op_) {
    case ReduceOp::SUM: return ncclSum;
    case ReduceOp::AVG: return ncclAvg;
    case ReduceOp::PRODUCT: return ncclProd;
    case ReduceOp::MIN: return ncclMin;
    case ReduceOp::MAX: return ncclMax;
    default: break;
  }
  detail::fail<ValueError>("Cannot use ReduceOp.", as_text(op), " with NCCL");
}

}  // namespace

NcclReduction nccl_reduction(ReduceOp op, ScalarType dtype) {
  return {nccl_dtype(dtype), dtype == kBool ? op_of_bool(op) : nccl_op(op)};
}

}  // namespace hearth::distributed
