#include "core/order_streams.h"

#include "core/backends.h"

namespace hearth {

void order_streams(Device device, StreamHandle earlier, StreamHandle later) {
  if (earlier == later) return;
  Backend& backend = backend_of(device);
  const int index = device.index();
  if (!earlier) earlier = backend.default_stream(index);
  if (!later) later = backend.default_stream(index);
  if (earlier == later) return;
  const EventHandle event = backend.create_event(index, false);
  backend.record(event, index, earlier);
  backend.wait(index, later, event);
  backend.destroy_event(event);
}

}  // namespace hearth
