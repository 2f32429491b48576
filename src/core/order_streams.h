#pragma once

#include "hearth/device.h"
#include "seam/ctx.h"

namespace hearth {

/// Makes work queued on `later` from now on run after the work already queued on `earlier`. Null is
/// the device's default stream; does nothing if both are the same stream.
void order_streams(Device device, StreamHandle earlier, StreamHandle later);

}  // namespace hearth
