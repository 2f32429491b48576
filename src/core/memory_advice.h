#pragma once

#include <string>

#include "core/memory_report.h"

namespace hearth {

/// The memory by tag and the three most helpful pieces of advice, as lines for an error text.
std::string tags_and_advice(const MemoryReport& report);

}  // namespace hearth
