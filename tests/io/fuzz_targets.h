// Entry points for fuzzers. Any bytes must be accepted or rejected with a hearth::Error.
#pragma once

#include <cstddef>
#include <cstdint>

/// The images that fuzz_image() has decoded.
extern int64_t accepted_images;

extern "C" {
int fuzz_safetensors(const uint8_t* data, size_t size);
int fuzz_archive(const uint8_t* data, size_t size);
int fuzz_checkpoint(const uint8_t* data, size_t size);
int fuzz_idx(const uint8_t* data, size_t size);
int fuzz_pt(const uint8_t* data, size_t size);
int fuzz_pickle(const uint8_t* data, size_t size);
int fuzz_npy(const uint8_t* data, size_t size);
int fuzz_csv(const uint8_t* data, size_t size);
int fuzz_index(const uint8_t* data, size_t size);
int fuzz_image(const uint8_t* data, size_t size);
int fuzz_text(const uint8_t* data, size_t size);
}
