#pragma once

/// @file
/// Images, as in torchvision: files, datasets, transforms, models, grids of images. Not part of
/// hearth.h.
#include "hearth/vision/auto_augment.h"
#include "hearth/vision/datasets.h"
#include "hearth/vision/distortions.h"
#include "hearth/vision/functional.h"
#include "hearth/vision/image.h"
#include "hearth/vision/models.h"
#include "hearth/vision/transforms.h"
#include "hearth/vision/utils.h"
