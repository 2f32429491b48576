#pragma once

/// @file
/// Datasets, transforms, samplers and data loaders. Not included: data/chunk.h, for datasets that
/// are read in chunks, data/csv.h, data/text.h and data/vocab.h.
#include "hearth/data/dataloader.h"
#include "hearth/data/datasets.h"
#include "hearth/data/example.h"
#include "hearth/data/mnist.h"
#include "hearth/data/options.h"
#include "hearth/data/samplers.h"
#include "hearth/data/transforms.h"
