#include "hearth/nn/utils.h"

#include "hearth/operators.h"

namespace hearth::nn::utils {

namespace {

void check_one_device(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters)
    HEARTH_CHECK(parameter.device() == parameters[0].device(),
                 "Found two parameters on different devices, this is currently not supported.");
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view(-1));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const int64_t end = begin + parameter.numel();
    parameter.set_data(vec.slice(0, begin, end).view_as(parameter).data());
    begin = end;
  }
}

}  // namespace hearth::nn::utils
