#include "hearth/io/serialize.h"

namespace hearth {

void serialize::warn_of_empty_module() {
  warn(
      "the saved module has no parameters and no buffers: were they registered with "
      "register_parameter, register_buffer and register_module?");
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor) {
  Tensor stored;
  archive.read("0", stored);
  if (tensor.defined() && stored.defined())
    tensor.set_data(
        stored.detach().to(archive.device().value_or(tensor.device()), stored.scalar_type()));
  else
    tensor = stored;
  return archive;
}

}  // namespace hearth
