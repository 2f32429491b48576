#pragma once

#include "seam/backend.h"

namespace hearth {

/// This thread's current CUDA device.
int8_t& current_cuda_device();

/// This thread's current stream of a device; null for devices that are not GPUs. Throws if the GPU
/// does not exist.
StreamHandle current_stream(Device device);
/// Makes a stream current on this thread; null stands for the default stream.
void set_current_stream(Device device, StreamHandle stream);

/// The next stream of one of the device's two pools: one pool is for negative priorities, one for
/// all other priorities. Streams exist until the process ends.
StreamHandle stream_from_pool(int device, int priority);

/// Throws if a kernel of the stream has reported a fault; called when the stream has been waited
/// for. Kernels of graphs report to the streams on which they were captured.
void check_stream_fault(int device, StreamHandle stream);
/// Waits for all work in the stream; throws if a kernel has reported a fault.
void synchronize_stream(int device, StreamHandle stream);
/// The same for all streams of the device.
void synchronize_device(int device);

}  // namespace hearth
