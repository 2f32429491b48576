#include "hearth/nn/lazy.h"

#include "hearth/autograd.h"
#include "hearth/nn/run_module.h"
#include "nn/generator_state.h"
#include "nn/lazy.h"

namespace hearth::nn {

namespace {

/// Whether the tensor's sizes are not known yet; they are [0] until then.
bool is_uninitialized(const Tensor& tensor) {
  return tensor.defined() && tensor.dim() == 1 && tensor.size(0) == 0;
}

/// Gives the tensor these sizes, unless it has sizes already.
void resize(const Tensor& tensor, IntArrayRef sizes) {
  if (is_uninitialized(tensor))
    tensor.set_data(empty(sizes, tensor.options().requires_grad(false)));
}

/// Resizes the uninitialized tensors of a module to their sizes in a state dictionary.
void take_sizes(Module& module, const OrderedDict<std::string, Tensor>& state,
                const std::string& path) {
  for (const auto& tensors : {module.named_parameters(false), module.named_buffers(false)})
    for (const auto& item : tensors) {
      const Tensor* loaded = state.find(path.empty() ? item.key() : path + "." + item.key());
      if (loaded && loaded->defined()) resize(*item, loaded->sizes());
    }
}

void make_uninitialized(const Tensor& tensor) {
  if (tensor.defined()) tensor.set_data(empty({0}, tensor.options().requires_grad(false)));
}

/// Initializes a linear layer with the input's number of features; a loaded weight has its own.
template <class M>
void fill_linear(M& module, const Tensor& input) {
  auto& o = module.options;
  if (!is_uninitialized(module.weight)) {
    o.in_features(module.weight.size(1));
    return;
  }
  o.in_features(input.size(-1));
  resize(module.weight, {o.out_features(), o.in_features()});
  resize(module.bias, {o.out_features()});
  module.reset_parameters();
}

/// Initializes a convolution with the input's number of channels; a loaded weight has its own.
template <size_t D, class M>
void fill_conv(M& module, const Tensor& input) {
  auto& o = module.options;
  const int64_t dims = input.dim();
  if (!is_uninitialized(module.weight)) {
    o.in_channels(o.transposed() ? module.weight.size(0) : module.weight.size(1) * o.groups());
    return;
  }
  HEARTH_CHECK(dims == D + 1 || dims == D + 2, "Expected ", D + 1, "D (unbatched) or ", D + 2,
               "D (batched) input to LazyConv", o.transposed() ? "Transpose" : "", D,
               "d, but got input of size: ", input.sizes());
  const int64_t in = input.size(-static_cast<int64_t>(D) - 1), out = o.out_channels();
  HEARTH_CHECK_AS(ValueError, in % o.groups() == 0, "in_channels must be divisible by groups");
  o.in_channels(in);
  std::vector<int64_t> sizes = o.transposed() ? std::vector<int64_t>{in, out / o.groups()}
                                              : std::vector<int64_t>{out, in / o.groups()};
  sizes.insert(sizes.end(), o.kernel_size()->begin(), o.kernel_size()->end());
  resize(module.weight, sizes);
  resize(module.bias, {out});
  module.reset_parameters();
}

/// Initializes a normalization with the input's number of channels. A batch has `dims` dimensions;
/// with allow_unbatched, inputs may lack the batch dimension.
template <class M>
void fill_norm(M& module, const Tensor& input, int64_t dims, bool allow_unbatched) {
  auto& o = module.options;
  const bool uninitialized =
      is_uninitialized(module.weight) || is_uninitialized(module.running_mean);
  if (!uninitialized) {  // a state was loaded, or the module has no tensors
    if (module.weight.defined()) o.num_features(module.weight.numel());
    if (module.running_mean.defined()) o.num_features(module.running_mean.numel());
    if (o.num_features() > 0) return;
  }
  if (input.dim() < 2) return;  // forward() throws
  const int64_t channels = input.size(allow_unbatched && input.dim() == dims - 1 ? 0 : 1);
  o.num_features(channels);
  for (Tensor* tensor : {&module.weight, &module.bias, &module.running_mean, &module.running_var})
    resize(*tensor, {channels});
  module.reset_parameters();
}

/// Makes these tensors of the module uninitialized until the first call, which runs
/// fill(module, input).
template <class M, class Fill>
void defer(M& module, const std::initializer_list<Tensor>& tensors, Fill fill) {
  const NoGradGuard no_grad;
  for (const Tensor& tensor : tensors) make_uninitialized(tensor);
  module.register_load_state_dict_pre_hook(take_sizes);
  const auto handle = std::make_shared<RemovableHandle>();
  *handle = module.register_forward_pre_hook(
      [fill, handle, original = &module](Module& self, std::vector<AnyValue>& arguments) {
        const Tensor* input = arguments.at(0).template try_get<Tensor>();
        if (!input || !input->defined()) return;  // forward() throws
        {
          const NoGradGuard guard;
          fill(static_cast<M&>(self), *input);
        }
        if (&self == original) handle->remove();  // a clone's hook stays, without effect
      });
}

/// Makes a module; the default generator's state stays the same.
template <class M, class Options>
std::shared_ptr<M> make_without_draws(const Options& options) {
  const GeneratorStateGuard guard(kCPU);
  return std::make_shared<M>(options);
}

template <size_t D, class M, class Options>
std::shared_ptr<M> lazy_conv(Options options) {
  const auto module = make_without_draws<M>(options.in_channels(options.groups()));
  defer(*module, {module->weight, module->bias}, &fill_conv<D, M>);
  return module;
}

template <class M, class Options>
std::shared_ptr<M> lazy_norm(Options options, int64_t dims, bool allow_unbatched) {
  const auto module = std::make_shared<M>(options.num_features(0));
  defer(*module, {},
        [=](M& self, const Tensor& input) { fill_norm(self, input, dims, allow_unbatched); });
  return module;
}

}  // namespace

bool detail::is_lazy(const Module& module) {
  if (!ModuleCall::has_hooks(module)) return false;  // defer() adds one
  for (const auto& tensors : {module.named_parameters(false), module.named_buffers(false)})
    for (const auto& item : tensors)
      if (item->defined()) return is_uninitialized(*item);
  return false;
}

LazyLinear::LazyLinear(int64_t out_features, bool bias)
    : Linear(make_without_draws<LinearImpl>(LinearOptions(1, out_features).bias(bias))) {
  impl_->options.in_features(0);
  defer(*impl_, {impl_->weight, impl_->bias}, &fill_linear<LinearImpl>);
}

#define HEARTH_LAZY_CONV(Conv, D)                                             \
  Lazy##Conv::Lazy##Conv(int64_t out_channels, ExpandingArray<D> kernel_size) \
      : Lazy##Conv(Conv##Options(1, out_channels, kernel_size)) {}            \
  Lazy##Conv::Lazy##Conv(Conv##Options options)                               \
      : Conv(lazy_conv<D, Conv##Impl>(std::move(options))) {}
HEARTH_LAZY_CONV(Conv1d, 1)
HEARTH_LAZY_CONV(Conv2d, 2)
HEARTH_LAZY_CONV(Conv3d, 3)
HEARTH_LAZY_CONV(ConvTranspose1d, 1)
HEARTH_LAZY_CONV(ConvTranspose2d, 2)
HEARTH_LAZY_CONV(ConvTranspose3d, 3)
#undef HEARTH_LAZY_CONV

#define HEARTH_LAZY_NORM(Norm, dims, allow_unbatched)   \
  Lazy##Norm::Lazy##Norm(const Norm##Options& options_) \
      : Norm(lazy_norm<Norm##Impl>(options_, dims, allow_unbatched)) {}
HEARTH_LAZY_NORM(BatchNorm1d, 3, false)
HEARTH_LAZY_NORM(BatchNorm2d, 4, false)
HEARTH_LAZY_NORM(BatchNorm3d, 5, false)
HEARTH_LAZY_NORM(InstanceNorm1d, 3, true)
HEARTH_LAZY_NORM(InstanceNorm2d, 4, true)
HEARTH_LAZY_NORM(InstanceNorm3d, 5, true)
#undef HEARTH_LAZY_NORM

}  // namespace hearth::nn
