#pragma once

#include <vector>

#include "hearth/device.h"
#include "hearth/generator.h"
#include "seam/ctx.h"

namespace hearth {

/// Whether work of any GPU is being captured as a graph (hearth/cuda_graph.h).
bool any_capture();
/// Whether the current stream of a device is being captured.
bool is_capturing(Device device);
/// In a capture by the device's current stream, makes `source` the generator's next launch within
/// the graph, without advancing the generator: replays do. Returns false outside of a capture.
bool draw_in_capture(const Generator& generator, Device device, RandomSource& source);
/// The streams of a device on which graphs were captured.
std::vector<StreamHandle> graph_streams(int device);
/// The number by which a launch advances a Philox offset (core/philox.h).
inline constexpr uint64_t kPhiloxOffsetStep = 4;

}  // namespace hearth
