#pragma once

#include "hearth/device.h"
#include "seam/ctx.h"

namespace hearth {

/// What is queued on `later` from now on runs after what is queued on `earlier` so far. Null means
/// the device's default stream; nothing happens if both are one.
void order_streams(Device device, StreamHandle earlier, StreamHandle later);

}  // namespace hearth
