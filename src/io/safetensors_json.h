#pragma once

#include "io/safetensors_header.h"

namespace hearth::io {

/// Parses the header's JSON between two offsets; checks its structure and that names are unique.
SafetensorsHeader parse_header_json(const Bytes& bytes, uint64_t begin, uint64_t end);

/// The header as JSON, with the tensors in their order.
std::string header_json(const SafetensorsHeader& header);

}  // namespace hearth::io
