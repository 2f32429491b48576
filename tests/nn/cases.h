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

using Tensors = std::vector<Tensor>;
/// A module and a function that calls it.
struct Subject {
  std::shared_ptr<nn::Module> module;
  std::function<Tensors(const Tensors& inputs)> call;
};
using Make = std::function<Subject()>;
/// Functions that create the module of each case, by the case's name.
using Table = std::map<std::string, Make>;

inline Tensors flattened(const std::tuple<Tensor, Tensor>& result) {
  return {std::get<0>(result), std::get<1>(result)};
}
inline Tensors flattened(const std::tuple<Tensor, std::tuple<Tensor, Tensor>>& result) {
  const auto& [h, c] = std::get<1>(result);
  return {std::get<0>(result), h, c};
}

/// The fixed numbers around 0 of nn_values.py.
Tensor values_of(IntArrayRef sizes);

/// A Make for subjects whose module `make` creates and `call` calls.
template <class Holder, class Call>
Make called(Holder (*make)(), Call call) {
  return [make, call]() -> Subject {
    Holder holder = make();
    return {holder.ptr(),
            [holder, call](const Tensors& in) mutable -> Tensors { return call(holder, in); }};
  };
}

/// A Make for subjects whose module `make` creates and whose holder is called with all inputs.
template <class Holder>
Make plain(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) -> Tensors {
    const auto call_with = [&](const auto&... x) -> Tensors {
      if constexpr (requires { module->forward(x...); })
        return {module(x...)};
      else
        HEARTH_CHECK(false, module->name(), " does not take ", in.size(), " inputs");
    };
    if (in.size() == 1) return call_with(in[0]);
    if (in.size() == 2) return call_with(in[0], in[1]);
    if (in.size() == 3) return call_with(in[0], in[1], in[2]);
    return call_with(in.at(0), in.at(1), in.at(2), in.at(3));
  });
}

/// The modules of all cases.
const Table& subjects();
/// The attention modules of nn_cases.py.
Table attention_subjects();
/// The modules of nn_cases_layers.py.
Table layer_subjects();
/// The modules and functions of nn_cases_upsampling.py.
Table upsampling_subjects();
/// The modules of nn_cases_rnn.py.
Table recurrent_subjects();
/// The modules of nn_cases_loss.py.
Table loss_subjects();
/// The modules of nn_cases_pooling.py.
Table pooling_subjects();

}  // namespace hearth::testing
