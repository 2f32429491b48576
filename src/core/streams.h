#pragma once

#include "seam/backend.h"

namespace hearth {

/// This thread's current CUDA device.
int8_t& current_cuda_device();

/// This thread's current stream of a device that exists; null on the CPU.
StreamHandle current_stream(Device device);
/// Null stands for the default stream.
void set_current_stream(Device device, StreamHandle stream);

/// A stream from the device's pool, whose streams are handed out in turn. Streams live until the
/// process ends.
StreamHandle stream_from_pool(int device, int priority);

/// Waits until the stream, or everything on the device, has run, and throws what kernels found.
void synchronize_stream(int device, StreamHandle stream);
void synchronize_device(int device);

}  // namespace hearth
