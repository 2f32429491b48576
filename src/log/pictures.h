#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/tensor.h"
#include "hearth/utils/plot.h"
#include "log/wire.h"

namespace hearth::utils::tensorboard::detail {

/// Throws unless images of these sizes and dtype can be shown. `format` names the dimensions, in
/// any order: HW, CHW or, for a batch, NCHW.
void check_image(IntArrayRef sizes, ScalarType dtype, const std::string& format);

/// The numbers as bytes: bytes are unchanged, other numbers are multiplied by 255 and clipped.
Tensor as_bytes(const Tensor& tensor);

/// The bytes that a figure's numbers and texts take.
size_t bytes_of(const plot::Figure& figure);
/// Draws figures; several become a grid.
Message figure_message(const std::string& tag, const std::vector<plot::Figure>& figures);

/// The Summary.Value of an image, a PNG file; batches are arranged as a grid.
Message image_message(const std::string& tag, const Tensor& image, const std::string& format);
/// The Summary.Value of a video [N, T, C, H, W], an animated PNG file.
Message video_message(const std::string& tag, const Tensor& video, double fps);
/// Joins the frames, PNG files of one size and format, to an animated PNG file.
std::string animated_png(const std::vector<std::string>& frames, double fps);
/// The square sprite of add_embedding, a PNG file, from images [N, C, H, W].
std::string sprite_png(const Tensor& images);
/// The Summary.Value of a sound, a WAV file.
Message audio_message(const std::string& tag, const Tensor& sound, int64_t sample_rate);

}  // namespace hearth::utils::tensorboard::detail
