#pragma once

#include <memory>
#include <vector>

#include "hearth/nn/module.h"

namespace hearth::nn::parallel::detail {

/// A clone on the device. The random numbers that its reset() draws are not those of the program.
std::shared_ptr<Module> clone_on(const Module& module, Device device);

/// Makes copies[k][i] a copy of originals[i] that passes its gradient on to it. `copies_data`:
/// their values are copied too, to their devices.
void link_copies(const std::vector<Tensor>& originals,
                 const std::vector<std::vector<Tensor>>& copies, bool copies_data);

/// Copies the values, to the devices of the copies.
void copy_values(const std::vector<Tensor>& originals,
                 const std::vector<std::vector<Tensor>>& copies);

}  // namespace hearth::nn::parallel::detail
