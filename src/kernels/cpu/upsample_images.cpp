// Reads and writes rows of images in the compute dtype, on the calling thread: dense rows at once,
// others channel by channel. Bound by memory; with strides, by a load and a store for each element.
#include "kernels/cpu/upsample_images.h"

namespace hearth::cpu {

UpsampleImages::UpsampleImages(const View& view, int row_dim, bool channels_inside)
    : data(view.as<char>()), dtype(view.dtype) {
  const int dims[3] = {0, channels_inside ? -1 : 1, row_dim == 3 ? 2 : 3};
  for (int i = 0; i < 3; ++i) {
    if (dims[i] < 0) continue;
    outer_sizes[i] = view.sizes[dims[i]];
    outer_strides[i] = view.strides[dims[i]];
  }
  rows = view.sizes[row_dim];
  row_stride = view.strides[row_dim];
  columns = view.sizes[4];
  column_stride = view.strides[4];
  if (!channels_inside) return;
  inner = view.sizes[1];
  inner_stride = view.strides[1];
}

char* UpsampleImages::row(int64_t image, int64_t r) const {
  int64_t offset = r * row_stride;
  for (int i = 2; i >= 0; --i) {
    offset += image % outer_sizes[i] * outer_strides[i];
    image /= outer_sizes[i];
  }
  return data + offset * int64_t(element_size(dtype));
}

void UpsampleRows::read(int64_t image, int64_t r, void* to) const {
  const UpsampleImages& images = images_;
  const char* const from = images.row(image, r);
  char* const out = static_cast<char*>(to);
  if (images.dense_rows()) return load_(from, 1, to, 1, images.width());
  for (int64_t c = 0; c < images.inner; ++c)
    load_(from + c * images.inner_stride * bytes_, images.column_stride, out + c * compute_bytes_,
          images.inner, images.columns);
}

void UpsampleRows::write(const void* from, int64_t image, int64_t r) const {
  const UpsampleImages& images = images_;
  const char* const in = static_cast<const char*>(from);
  char* const to = images.row(image, r);
  if (images.dense_rows()) return store_(from, 1, to, 1, images.width());
  for (int64_t c = 0; c < images.inner; ++c)
    store_(in + c * compute_bytes_, images.inner, to + c * images.inner_stride * bytes_,
           images.column_stride, images.columns);
}

}  // namespace hearth::cpu
