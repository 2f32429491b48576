#include "hearth/io/serialize.h"

#include "hearth/autograd.h"

namespace hearth {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor) {
  Tensor stored;
  archive.read("0", stored);
  if (!tensor.defined() || !stored.defined()) {
    tensor = stored;
    return archive;
  }
  const NoGradGuard no_history;
  if (tensor.sizes() == stored.sizes() && tensor.scalar_type() == stored.scalar_type())
    tensor.copy_(stored);
  else
    tensor.set_data(stored.to(tensor.device(), stored.scalar_type()));
  return archive;
}

}  // namespace hearth
