#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hearth/nn.h"

namespace hearth::testing {

/// A case of nn_cases.txt, with its tensors by key.
struct NnCase {
  std::string name;
  uint64_t seed = 0;
  OrderedDict<std::string, Tensor> tensors;
};
std::vector<NnCase> read_nn_cases();

/// A module and a function that calls it.
struct Subject {
  std::shared_ptr<nn::Module> module;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> call;
};
/// Functions that create the module of each case, by the case's name.
const std::map<std::string, std::function<Subject()>>& subjects();
/// The part with attention.
std::map<std::string, std::function<Subject()>> attention_subjects();
/// The part with interpolation and sampling.
std::map<std::string, std::function<Subject()>> upsampling_subjects();

}  // namespace hearth::testing
