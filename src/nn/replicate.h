#pragma once

#include <memory>
#include <vector>

#include "hearth/nn/module.h"

namespace hearth::nn::parallel::detail {

/// Returns a clone on the device. Its reset() draws random numbers from a separate generator.
std::shared_ptr<Module> clone_on(const Module& module, Device device);

/// Records copies[k][i] as a copy of originals[i], so that the copy's gradient is added to the
/// original's. With `copies_data`, copies the values too.
void link_copies(const std::vector<Tensor>& originals,
                 const std::vector<std::vector<Tensor>>& copies, bool copies_data);

/// Copies the values of the originals to the devices of the copies.
void copy_values(const std::vector<Tensor>& originals,
                 const std::vector<std::vector<Tensor>>& copies);

}  // namespace hearth::nn::parallel::detail
