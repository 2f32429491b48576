#pragma once

#include <string>
#include <vector>

#include "hearth/export.h"

namespace hearth::io {

/// Hint for the error about a missing key: a prefix by which the keys differ, the nearest existing
/// key or, with `list_others`, the first few; "" if there are none.
HEARTH_API std::string key_hint(const std::string& missing,
                                const std::vector<std::string>& existing, bool list_others = true);

}  // namespace hearth::io
