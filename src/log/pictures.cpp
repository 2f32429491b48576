#include "log/pictures.h"

#include <algorithm>
#include <cmath>

#include "hearth/operators.h"
#include "hearth/vision/image.h"
#include "log/events.h"

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr int64_t kGridColumns = 8;

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// The position of each letter of `order` in the format.
std::vector<int64_t> positions(const std::string& order, const std::string& format) {
  std::vector<int64_t> dims;
  for (const char letter : order) dims.push_back(static_cast<int64_t>(format.find(letter)));
  return dims;
}

/// The order into which images of this format are brought.
std::string order_of(const std::string& format) {
  return format.size() == 4 ? "NCHW" : format.size() == 3 ? "CHW" : "HW";
}

/// One channel becomes three, in dimension `dim`.
Tensor with_colors(const Tensor& image, int64_t dim) {
  return image.size(dim) == 1 ? cat({image, image, image}, dim) : image;
}

/// Arranges images [N, 3, H, W] in rows, as PyTorch's make_grid of summaries does.
Tensor grid_of(const Tensor& images, int64_t most_columns) {
  const int64_t count = images.size(0), height = images.size(2), width = images.size(3);
  const int64_t columns = std::min(count, most_columns), rows = (count + columns - 1) / columns;
  Tensor grid = zeros({3, height * rows, width * columns}, images.options());
  for (int64_t i = 0; i < count; ++i)
    grid.narrow(1, i / columns * height, height)
        .narrow(2, i % columns * width, width)
        .copy_(images[i]);
  return grid;
}

std::string png_file(const Tensor& image) {
  const Tensor file = vision::encode_png(image.contiguous());
  return {static_cast<const char*>(file.data_ptr()), static_cast<size_t>(file.numel())};
}

size_t bytes_in(const std::vector<double>& numbers) { return numbers.size() * sizeof(double); }
size_t bytes_in(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

/// A Summary.Image.
Message image_content(const Tensor& image, const std::string& file) {
  return Message()
      .integer(1, image.size(1))
      .integer(2, image.size(2))
      .integer(3, image.size(0))
      .bytes(4, file);
}

constexpr int kImage = 4;  // of Summary.Value

/// Arranges videos [N, T, C, H, W] as frames [T, C, rows * H, columns * W], as PyTorch does.
Tensor frames_of(const Tensor& video) {
  int64_t padded_count = 1, bits = 0;
  for (; padded_count < video.size(0); padded_count *= 2) ++bits;
  const int64_t log2_count = padded_count == video.size(0) ? bits : bits - 1;  // rounded down
  const int64_t rows = int64_t{1} << log2_count / 2, columns = padded_count / rows;
  const int64_t time = video.size(1), channels = video.size(2), height = video.size(3),
                width = video.size(4);
  Tensor padded = zeros({padded_count, time, channels, height, width}, video.options());
  padded.narrow(0, 0, video.size(0)).copy_(video);
  return padded.view({rows, columns, time, channels, height, width})
      .permute({2, 3, 0, 4, 1, 5})
      .reshape({time, channels, rows * height, columns * width});
}

}  // namespace

void check_image(IntArrayRef sizes, ScalarType dtype, const std::string& format) {
  const std::string letters = upper(format);
  for (const char letter : letters)
    HEARTH_CHECK(std::count(letters.begin(), letters.end(), letter) == 1,
                 "You can not use the same dimension shorthand twice. input_format: ", format);
  HEARTH_CHECK(sizes.size() == format.size(),
               "size of input tensor and input format are different. tensor shape: ", sizes,
               ", input_format: ", format);
  std::string sorted = letters;
  std::sort(sorted.begin(), sorted.end());
  HEARTH_CHECK_AS(ValueError, sorted == "CHNW" || sorted == "CHW" || sorted == "HW",
                  "dataformats '", format, "' must have the letters of HW, CHW or NCHW");
  const size_t c = letters.find('C');
  const int64_t channels = c == std::string::npos ? 1 : sizes[c];
  HEARTH_CHECK(letters.size() < 4 || channels == 1 || channels == 3,
               "Input should be a 4D tensor with 1 or 3 channels, but got sizes ", sizes);
  HEARTH_CHECK_AS(TypeError, channels >= 1 && channels <= 4,
                  "An image has 1 to 4 channels, but got sizes ", sizes, " as ", format);
  for (const int64_t size : sizes)
    HEARTH_CHECK_AS(ValueError, size > 0, "The image has no pixels: its sizes are ", sizes);
  HEARTH_CHECK_AS(TypeError, !is_complex(dtype), "An image cannot be complex");
}

Tensor as_bytes(const Tensor& tensor) {
  if (tensor.scalar_type() == kByte) return tensor;
  const std::vector<float> numbers = elements<float>(tensor);
  Tensor bytes = empty(tensor.sizes(), kByte);
  auto* to = bytes.data_ptr<uint8_t>();
  for (const float number : numbers) {
    const float scaled = number * 255;
    *to++ = scaled > 0 ? static_cast<uint8_t>(std::min(scaled, 255.0f)) : 0;  // NaN becomes 0
  }
  return bytes;
}

Message image_message(const std::string& tag, const Tensor& image, const std::string& format) {
  const std::string letters = upper(format);
  Tensor picture = as_bytes(image).permute(positions(order_of(letters), letters));
  if (picture.dim() == 2) picture = picture.unsqueeze(0);
  if (picture.dim() == 4)
    picture = grid_of(with_colors(picture, 1), kGridColumns);
  else
    picture = with_colors(picture, 0);
  return tagged(tag).message(kImage, image_content(picture, png_file(picture)));
}

size_t bytes_of(const plot::Figure& figure) {
  size_t bytes = sizeof(figure);
  for (int64_t i = 0; i < figure.num_axes(); ++i) {
    const plot::detail::Chart& chart = figure.axes(i).chart();
    bytes += sizeof(chart) + chart.title.size() + chart.x_label.size() + chart.y_label.size() +
             bytes_in(chart.names);
    for (const auto& series : chart.series)
      bytes += sizeof(series) + series.label.size() + bytes_in(series.x) + bytes_in(series.y);
    if (chart.cells)
      bytes += bytes_in(chart.cells->shades) + bytes_in(chart.cells->texts) +
               bytes_in(chart.cells->row_names) + bytes_in(chart.cells->column_names);
  }
  return bytes;
}

Message figure_message(const std::string& tag, const std::vector<plot::Figure>& figures) {
  std::vector<Tensor> pictures;
  int64_t height = 0, width = 0;
  for (const plot::Figure& figure : figures) {
    pictures.push_back(figure.image());
    height = std::max(height, pictures.back().size(1));
    width = std::max(width, pictures.back().size(2));
  }
  if (pictures.size() == 1) return image_message(tag, pictures[0], "CHW");
  const Tensor all = full({std::ssize(pictures), 3, height, width}, 255, kByte);
  for (int64_t i = 0; i < std::ssize(pictures); ++i) {
    const Tensor& picture = pictures[static_cast<size_t>(i)];
    all[i].narrow(1, 0, picture.size(1)).narrow(2, 0, picture.size(2)).copy_(picture);
  }
  return image_message(tag, all, "NCHW");
}

Message video_message(const std::string& tag, const Tensor& video, double fps) {
  const Tensor frames = frames_of(as_bytes(video));
  std::vector<std::string> files;
  for (int64_t i = 0; i < frames.size(0); ++i) files.push_back(png_file(frames[i]));
  return tagged(tag).message(kImage, image_content(frames[0], animated_png(files, fps)));
}

std::string sprite_png(const Tensor& images) {
  const auto columns =
      static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(images.size(0)))));
  const Tensor grid = grid_of(with_colors(as_bytes(images), 1), columns);
  // TensorBoard expects a square.
  Tensor sprite = zeros({3, std::max(grid.size(1), grid.size(2)), grid.size(2)}, grid.options());
  sprite.narrow(1, 0, grid.size(1)).copy_(grid);
  return png_file(sprite);
}

}  // namespace hearth::utils::tensorboard::detail
