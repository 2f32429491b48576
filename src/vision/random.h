#pragma once

#include <cstdint>

#include "hearth/vision/transforms.h"

// Random numbers as Python's torchvision draws them, from the default generator.
namespace hearth::vision::transforms {

double random_uniform(Range range);               // torch.empty(1).uniform_(…)
int64_t random_below(int64_t low, int64_t high);  // torch.randint(low, high, (1,))

}  // namespace hearth::vision::transforms
