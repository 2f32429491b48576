// embedding and one_hot.
#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"
#include "ops/view_shape.h"
#include "seam/gather.h"
#include "seam/scatter.h"

namespace hearth {

namespace {

/// A contiguous index of any shape as one column, broadcast to [elements, width].
View column_of(const View& index, int64_t width) {
  View column = index;
  column.dim = 2;
  column.sizes[0] = index.numel;
  column.sizes[1] = width;
  column.strides[0] = 1;
  column.strides[1] = 0;
  column.numel = index.numel * width;
  return column;
}

/// A contiguous tensor as [rows, width].
View as_rows(View view, int64_t rows, int64_t width) {
  view.dim = 2;
  view.sizes[0] = rows;
  view.sizes[1] = view.strides[0] = width;
  view.strides[1] = 1;
  return view;
}

/// The gradient of embedding's weight: the sums of grad's rows that have the same index.
struct EmbeddingBackward {
  struct Args {
    int64_t num_weights, padding_idx;
    HEARTH_FIELDS(num_weights, padding_idx)
  };
  static constexpr OpInfo info{
      .name = "embedding_dense_backward", .arguments = "grad,indices", .saves = in_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, Dims{args.num_weights, context.in(0).sizes().back()}, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    View out = context.out();
    run_fill(context.ctx, out, 0);
    const View index = context.in(1);
    const int64_t width = out.sizes[1];
    if (index.numel == 0) return;
    run_kernel(context.ctx, ScatterParams{out, column_of(index, width),
                                          as_rows(context.in(0), index.numel, width), 0,
                                          Combine::kAdd, are_deterministic_algorithms_enabled()});
    if (args.padding_idx < 0 || args.padding_idx >= args.num_weights) return;
    out.data =
        out.as<char>() + args.padding_idx * out.strides[0] * int64_t(element_size(out.dtype));
    out.sizes[0] = 1;
    out.numel = width;
    run_fill(context.ctx, out, 0);
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor rows = embedding(context.grad(), context.in(1));
    if (args.padding_idx < 0) return context.set(0, rows);
    context.set(0, rows.masked_fill(context.in(1).eq(args.padding_idx).unsqueeze(-1), 0));
  }
};

struct Embedding {
  struct Args {
    int64_t padding_idx;
    bool scale_grad_by_freq, sparse;
    HEARTH_FIELDS(padding_idx, scale_grad_by_freq, sparse)
  };
  static constexpr OpInfo info{.name = "embedding",
                               .arguments = "weight,indices",
                               .saves = in_slot(1),
                               .accepts_stored = true,
                               .linear = true};
  static void infer(const Args&, InferContext& context) {
    const TensorImpl &weight = context.in(0), &index = context.in(1);
    HEARTH_CHECK(weight.dim == 2, "'weight' must be 2-D");
    HEARTH_CHECK(index.dtype == kLong || index.dtype == kInt,
                 "Expected tensor for argument #1 'indices' to have one of the following scalar "
                 "types: Long, Int; but got ",
                 type_text(index), " instead (while checking arguments for embedding)");
    Dims sizes(index.sizes());
    sizes.push_back(weight.sizes()[1]);
    context.set(0, sizes, weight.dtype);
  }
  static void launch(const Args&, LaunchContext& context) {
    const View index = context.in(1), out = context.out();
    const int64_t width = context.in(0).sizes[1];
    run_kernel(context.ctx, GatherParams{context.in(0), column_of(index, width),
                                         as_rows(out, index.numel, width), 0});
  }
  static void grad(const Args& args, GradContext& context) {
    HEARTH_CHECK_AS(NotImplementedError, !args.sparse,
                    "embedding(): sparse gradients are not supported; use sparse(false)");
    const Tensor index = context.in(1);
    // Gradients of half dtypes are summed in float32.
    const ScalarType type = context.grad().scalar_type();
    Tensor g = context.grad().to(wide_type(type));
    const int64_t rows = context.in_sizes(0)[0];
    if (args.scale_grad_by_freq) {
      const Tensor counts = zeros({rows}, g.options())
                                .index_add(0, index.view({-1}), ones({index.numel()}, g.options()));
      g = g.div(counts.index_select(0, index.view({-1})).view(index.sizes()).unsqueeze(-1));
    }
    const Tensor sums =
        invoke<EmbeddingBackward>({rows, args.padding_idx}, g.contiguous(), index).call();
    context.set(0, sums.to(type));
  }
};

/// The number of classes of one_hot; checks the labels.
int64_t class_count(const Tensor& labels, int64_t num_classes) {
  HEARTH_CHECK(labels.scalar_type() == kLong,
               "one_hot is only applicable to index tensor of type LongTensor.");
  if (labels.numel() == 0) {
    HEARTH_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
    return num_classes;
  }
  if (num_classes < 0 || labels.is_cpu()) {
    HEARTH_CHECK_AS(NotImplementedError, !labels.is_meta(),
                    "one_hot(): the number of classes depends on data, which meta tensors do not "
                    "have");
    HEARTH_CHECK(labels.min().item<int64_t>() >= 0, "Class values must be non-negative.");
    const int64_t largest = labels.max().item<int64_t>();
    if (num_classes == -1) return largest + 1;
    HEARTH_CHECK(num_classes > largest, "Class values must be smaller than num_classes.");
  }
  HEARTH_CHECK(num_classes >= 1, "num_classes should be positive");
  return num_classes;
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  return invoke<Embedding>({padding_idx, scale_grad_by_freq, sparse}, weight, indices.contiguous())
      .call();
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  Dims sizes(self.sizes());
  sizes.push_back(class_count(self, num_classes));
  return zeros(sizes, self.options()).scatter(-1, self.unsqueeze(-1), 1);
}

}  // namespace hearth
