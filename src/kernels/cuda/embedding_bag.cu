// Sums, means and maxima of bags of rows of a table. Each thread has one column of one bag at a
// time and goes through the bag's indices; adjacent threads read adjacent columns of a row. Bound
// by the memory traffic of the rows or, with few bags, by the latency of a thread's loads, an index
// and then its element.
#include "seam/embedding_bag.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/embedding_bag_indices.cuh"
#include "kernels/cuda/floating.h"
#include "kernels/cuda/launch.h"

namespace hearth::cuda {

namespace {

template <class T>
struct BagArgs {
  const T *weight, *scale;  // scale may be null
  T* out;
  int64_t *offset2bag, *bag_size, *max_indices;  // null if not wanted
  int64_t width, row_stride, scale_stride;
  BagMode mode;

  explicit BagArgs(const EmbeddingBagParams& p)
      : weight(p.weight.as<const T>()),
        scale(p.scale.as<const T>()),
        out(p.out.as<T>()),
        offset2bag(wanted(p.offset2bag)),
        bag_size(wanted(p.bag_size)),
        max_indices(wanted(p.max_indices)),
        width(p.weight.sizes[1]),
        row_stride(p.weight.strides[0]),
        scale_stride(p.scale.defined() ? p.scale.strides[0] : 0),
        mode(p.mode) {}
  static int64_t* wanted(const View& view) { return view.numel > 0 ? view.as<int64_t>() : nullptr; }
};

/// Computes column c of bag b. The thread of column 0 also writes the bag's other results.
template <class T, class I>
__device__ void combine(const BagArgs<T>& args, const DeviceBags<I>& bags, int64_t b, int64_t c) {
  using C = Register<T>;
  int64_t begin, end, count = 0, best_row = 0;
  bags.range(b, begin, end);
  C result = 0;
  for (int64_t i = begin; i < end; ++i) {
    if (c == 0 && args.offset2bag) args.offset2bag[i] = b;
    const int64_t row = bags.row(i);
    if (row < 0) continue;
    ++count;
    if (c >= args.width) continue;
    const C x = to_register(args.weight[row * args.row_stride + c]);
    if (args.mode != BagMode::kMax) {
      result += args.scale ? x * to_register(args.scale[i * args.scale_stride]) : x;
    } else if (count == 1 || x > result) {  // as in PyTorch, NaN is the maximum only if it is first
      result = x;
      best_row = row;
    }
  }
  if (c == 0 && args.bag_size) args.bag_size[b] = count;
  if (c >= args.width) return;
  if (args.mode == BagMode::kMean && count > 0) result *= static_cast<C>(1 / double(count));
  args.out[b * args.width + c] = to_element<T>(result);
  if (args.max_indices) args.max_indices[b * args.width + c] = best_row;
}

template <class T, class I>
__global__ void __launch_bounds__(kBlock)
    embedding_bag_kernel(const __grid_constant__ BagArgs<T> args,
                         const __grid_constant__ DeviceBags<I> bags, int64_t columns) {
  const int64_t step = int64_t{gridDim.x} * kBlock, count = bags.num_bags * columns;
  for (int64_t e = int64_t{blockIdx.x} * kBlock + threadIdx.x; e < count; e += step)
    combine(args, bags, e / columns, e % columns);
}

}  // namespace

void run(const EmbeddingBagParams& params, Ctx& ctx) {
  if (params.bags.count == 0) return;
  const NativeStream& stream = stream_of(ctx);
  // At least one column, whose thread writes the bag's other results.
  const int64_t columns = std::max<int64_t>(params.weight.sizes[1], 1);
  with_floating("embedding_bag", params.weight.dtype, [&](auto element) {
    using T = decltype(element);
    with_bags(params.bags, stream, [&]<class I>(const DeviceBags<I>& bags) {
      launch(embedding_bag_kernel<T, I>, grid_for(params.bags.count * columns, stream), stream,
             BagArgs<T>(params), bags, columns);
    });
  });
}

}  // namespace hearth::cuda
