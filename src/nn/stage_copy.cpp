#include "nn/stage_copy.h"

#include <map>
#include <mutex>

#include "hearth/custom_function.h"

namespace hearth::nn {

namespace {

/// The kinds of copies, by direction: to or from a device with a higher or a lower index. A device
/// has a stream for each kind, so that copies of one kind never wait for another kind.
enum class CopyKind { kSendUp, kSendDown, kReceiveFromAbove, kReceiveFromBelow };

cuda::Stream copy_stream(Device device, CopyKind kind) {
  static std::mutex mutex;
  static std::map<std::pair<int, CopyKind>, cuda::Stream> streams;
  const std::lock_guard lock(mutex);
  const std::pair<int, CopyKind> key(device.index(), kind);
  const auto found = streams.find(key);
  if (found != streams.end()) return found->second;
  return streams.emplace(key, cuda::Stream(device)).first->second;
}

Tensor copy_on_streams(const Tensor& tensor, Device device, const StreamMark& computed) {
  const Device source = tensor.device();
  const TensorOptions target = TensorOptions().device(device);
  if (!source.is_cuda() || !device.is_cuda()) return tensor.to(target);
  const bool goes_up = device.index() > source.index();
  const cuda::Stream sending =
      copy_stream(source, goes_up ? CopyKind::kSendUp : CopyKind::kSendDown);
  const cuda::Stream receiving =
      copy_stream(device, goes_up ? CopyKind::kReceiveFromBelow : CopyKind::kReceiveFromAbove);
  const cuda::Stream reader = cuda::current_stream(device.index());
  if (computed)
    computed.make_wait(sending);
  else
    sending.wait_stream(cuda::current_stream(source.index()));
  Tensor copy;
  {
    const cuda::StreamGuard send(sending), receive(receiving);
    copy = tensor.to(target);
  }
  tensor.record_stream(sending);
  reader.wait_stream(receiving);
  copy.record_stream(reader);
  return copy;
}

struct StageCopy : autograd::Function<StageCopy> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& tensor, Device device,
                        const StreamMark& computed) {
    context->saved_data["source"] = tensor.device().str();
    return copy_on_streams(tensor, device, computed);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list gradients) {
    const Device source(context->saved_data.at("source").toStringRef());
    return {copy_on_streams(gradients[0], source, {}), Tensor(), Tensor()};
  }
};

struct LeafAlias : autograd::Function<LeafAlias> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& leaf) { return leaf.detach(); }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list gradients) {
    return gradients;
  }
};

}  // namespace

StreamMark::StreamMark(Device device) {
  if (!device.is_cuda()) return;
  event_ = std::make_shared<cuda::Event>();
  event_->record(cuda::current_stream(device.index()));
}

Tensor copy_to_stage(const Tensor& tensor, Device device, const StreamMark& computed) {
  if (tensor.device() == device) return tensor;
  return StageCopy::apply(tensor, device, computed);
}

Tensor alias_of_leaf(const Tensor& leaf) { return LeafAlias::apply(leaf); }

}  // namespace hearth::nn
