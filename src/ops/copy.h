#pragma once

#include "core/op.h"
#include "seam/pointwise.h"

namespace hearth {

/// Launches to = from, converted and broadcast; both on the Ctx's device (a CPU number counts as
/// anywhere).
void run_copy(Ctx& ctx, const TensorImpl& to, const TensorImpl& from);
/// The same on views, for kernels' own scratch.
void run_copy(Ctx& ctx, const View& to, const View& from);
/// Launches to += from on views of one shape and dtype.
void run_add(Ctx& ctx, const View& to, const View& from);
/// Launches to = value everywhere.
void run_fill(Ctx& ctx, const View& to, double value);
void run_fill(Ctx& ctx, View to, const TensorImpl& number);

/// The strides of a copy of a tensor in `format`.
Dims strides_for(const TensorImpl& source, MemoryFormat format);
/// One output: input 0's sizes in another dtype and format.
void infer_copy(InferContext& context, ScalarType dtype, MemoryFormat format);

/// self on another device, contiguous; asynchronous from or to pinned memory if asked.
Tensor transfer(const Tensor& self, Device device, bool non_blocking);
/// to = packed, bytes of one shape and dtype, both contiguous.
Tensor& transfer_into(Tensor& to, const Tensor& packed, bool non_blocking);

}  // namespace hearth
