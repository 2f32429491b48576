#pragma once

/// Images: files, datasets, transforms, models and grids, as in torchvision. Not part of hearth.h.
#include "hearth/vision/datasets.h"
#include "hearth/vision/functional.h"
#include "hearth/vision/image.h"
#include "hearth/vision/models.h"
#include "hearth/vision/transforms.h"
#include "hearth/vision/utils.h"
