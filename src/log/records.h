#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// TensorFlow's record files, the format of event files.
namespace hearth::utils::tensorboard::detail {

/// CRC-32C (Castagnoli) of the bytes.
uint32_t crc32c(std::string_view bytes);

/// Appends a record: length, masked CRC-32C of the length, payload, masked CRC-32C of the payload.
void append_record(std::string& out, std::string_view payload);

}  // namespace hearth::utils::tensorboard::detail
