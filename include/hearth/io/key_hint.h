#pragma once

#include <string>
#include <vector>

#include "hearth/export.h"

namespace hearth::io {

/// What an error adds about a key that is not among those that are there: the prefix that makes the
/// difference, the nearest key or, with `list_others`, the first few of them; "" if there is
/// nothing to say.
HEARTH_API std::string key_hint(const std::string& missing, const std::vector<std::string>& there,
                                bool list_others = true);

}  // namespace hearth::io
