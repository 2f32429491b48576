#pragma once

#include <string>
#include <vector>

#include "hearth/export.h"

namespace hearth::io {

/// Hint for the error about a missing key: an existing key that differs only by a prefix, else the
/// most similar key, else, with `list_others`, the first few existing keys; "" if there is none.
HEARTH_API std::string key_hint(const std::string& missing,
                                const std::vector<std::string>& existing, bool list_others = true);

}  // namespace hearth::io
