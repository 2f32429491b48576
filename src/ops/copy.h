#pragma once

#include "core/op.h"
#include "seam/pointwise.h"

namespace hearth {

/// Launches to = from, converted and broadcast; both on the Ctx's device, but `from` may be a
/// number on the CPU.
void run_copy(Ctx& ctx, const TensorImpl& to, const TensorImpl& from);
void run_copy(Ctx& ctx, const View& to, const View& from);
/// Warns, only once unless warnAlways is set, of a conversion from complex to real numbers.
void warn_of_lost_imaginary_part(ScalarType from, ScalarType to);
/// A 0-d tensor in self's dtype that is to be written to self: it never shares memory with self.
/// Throws if it is a number on the CPU that does not fit the dtype.
Tensor as_element_of(const Tensor& self, const Tensor& number);
/// For ops that then overwrite a part of output 0: launches output 0 = input 0, unless both have
/// the same memory.
void copy_self_to_out(LaunchContext& context);
/// Launches to += from on views of one shape and dtype.
void run_add(Ctx& ctx, const View& to, const View& from);
/// Launches to = value in all elements.
void run_fill(Ctx& ctx, const View& to, double value);
void run_fill(Ctx& ctx, View to, const TensorImpl& number);

/// A view for kernels that need contiguous memory: the view itself or a copy in scratch memory.
View dense(LaunchContext& context, const View& view);

/// Sets output i of an op that is not elementwise, in channels_last if asked, else contiguous.
void set_in_format(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype,
                   bool channels_last);

/// The strides of a copy of a tensor in `format`.
Dims strides_for(const TensorImpl& source, MemoryFormat format);
/// Sets output 0 to input 0's sizes in the given dtype and format.
void infer_copy(InferContext& context, ScalarType dtype, MemoryFormat format);

/// Copies self to another device, as a contiguous tensor; asynchronous from or to pinned memory if
/// asked.
Tensor transfer(const Tensor& self, Device device, bool non_blocking);
/// Copies `packed`, from any device, into `to`; both contiguous and of the same shape and dtype.
Tensor& transfer_into(Tensor& to, const Tensor& packed, bool non_blocking);

}  // namespace hearth
