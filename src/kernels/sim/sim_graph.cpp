// Graphs of simulated GPUs: a graph is the capture that recorded it.
#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"

namespace hearth::sim {

void SimBackend::begin_capture(int device, StreamHandle handle, CaptureMode) {
  Stream& stream = *static_cast<Stream*>(handle);
  stream.check_not_capturing();
  stream.set_capture(std::make_shared<Capture>(stream, device));
}

bool SimBackend::is_capturing(int, StreamHandle stream) {
  return static_cast<Stream*>(stream)->capture() != nullptr;
}

CapturedGraph SimBackend::end_capture(int device, StreamHandle handle) {
  const Stream& origin = *static_cast<Stream*>(handle);
  const auto capture = static_cast<Stream*>(handle)->capture();
  HEARTH_CHECK(capture && capture->began_on(origin), "Invalid capture.");
  for (Stream* each : streams_of(device))
    if (each->capture() == capture) each->set_capture(nullptr);
  capture->end();
  return {new std::shared_ptr<Capture>(capture), capture->nodes().size()};
}

void SimBackend::launch(GraphHandle graph, int, StreamHandle stream) {
  const auto& capture = *static_cast<const std::shared_ptr<Capture>*>(graph);
  for (const Capture::Node& node : capture->nodes())
    submit(node.activity, stream, [capture, &node] { node.work(); });
}

void SimBackend::destroy_graph(GraphHandle graph) {
  delete static_cast<std::shared_ptr<Capture>*>(graph);
}

}  // namespace hearth::sim
