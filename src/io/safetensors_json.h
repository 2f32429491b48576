#pragma once

#include "io/safetensors_header.h"

namespace hearth::io {

/// Parses the JSON between two offsets: well-formed, of the right kinds, no name twice.
SafetensorsHeader parse_header_json(const Bytes& bytes, uint64_t begin, uint64_t end);

/// The header as JSON, tensors in their order.
std::string header_json(const SafetensorsHeader& header);

}  // namespace hearth::io
