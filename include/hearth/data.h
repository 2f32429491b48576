#pragma once

/// @file
/// Datasets, transforms, samplers and data loaders.
#include "hearth/data/chunk.h"
#include "hearth/data/dataloader.h"
#include "hearth/data/datasets.h"
#include "hearth/data/example.h"
#include "hearth/data/mnist.h"
#include "hearth/data/options.h"
#include "hearth/data/samplers.h"
#include "hearth/data/transforms.h"
