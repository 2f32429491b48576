#include "hearth/io/jit.h"

namespace hearth::jit {

Module::Module(std::string path, const io::NamedTensors& tensors) : path_(std::move(path)) {
  for (const auto& [name, tensor] : tensors)
    (tensor.requires_grad() ? parameters_ : buffers_).push_back({name, tensor});
}

Tensor Module::attr(const std::string& name) const {
  for (const auto* tensors : {&parameters_, &buffers_})
    for (const NamedTensor& tensor : *tensors)
      if (tensor.name == name) return tensor.value;
  detail::fail<Error>("the module '", path_, "' has no tensor '", name, "'");
}

IValue Module::forward(std::vector<IValue>) const {
  detail::fail<NotImplementedError>(
      "Hearth cannot run the TorchScript code of '", path_,
      "': it reads only the parameters and buffers of such files; build the module in C++ and load "
      "them with torch::load(module, path)");
}

Module load(const std::string& path, std::optional<Device> device) {
  return Module(path, io::load_jit_parameters(path, device));
}

}  // namespace hearth::jit
