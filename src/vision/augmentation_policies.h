#pragma once

#include "vision/augmentation.h"

// The policies that the paper "AutoAugment" found.
namespace hearth::vision::transforms {

/// An augmentation, ten times its probability, and its magnitude's bin of ten, if it has one.
struct PolicyStep {
  Augmentation augmentation;
  int8_t tenths, bin;
};
using Policy = PolicyStep[25][2];

namespace policies {

using enum Augmentation;

constexpr Policy kImagenet{
    {{kPosterize, 4, 8}, {kRotate, 6, 9}},  {{kSolarize, 6, 5}, {kAutoContrast, 6, 0}},
    {{kEqualize, 8, 0}, {kEqualize, 6, 0}}, {{kPosterize, 6, 7}, {kPosterize, 6, 6}},
    {{kEqualize, 4, 0}, {kSolarize, 2, 4}}, {{kEqualize, 4, 0}, {kRotate, 8, 8}},
    {{kSolarize, 6, 3}, {kEqualize, 6, 0}}, {{kPosterize, 8, 5}, {kEqualize, 10, 0}},
    {{kRotate, 2, 3}, {kSolarize, 6, 8}},   {{kEqualize, 6, 0}, {kPosterize, 4, 6}},
    {{kRotate, 8, 8}, {kColor, 4, 0}},      {{kRotate, 4, 9}, {kEqualize, 6, 0}},
    {{kEqualize, 0, 0}, {kEqualize, 8, 0}}, {{kInvert, 6, 0}, {kEqualize, 10, 0}},
    {{kColor, 6, 4}, {kContrast, 10, 8}},   {{kRotate, 8, 8}, {kColor, 10, 2}},
    {{kColor, 8, 8}, {kSolarize, 8, 7}},    {{kSharpness, 4, 7}, {kInvert, 6, 0}},
    {{kShearX, 6, 5}, {kEqualize, 10, 0}},  {{kColor, 4, 0}, {kEqualize, 6, 0}},
    {{kEqualize, 4, 0}, {kSolarize, 2, 4}}, {{kSolarize, 6, 5}, {kAutoContrast, 6, 0}},
    {{kInvert, 6, 0}, {kEqualize, 10, 0}},  {{kColor, 6, 4}, {kContrast, 10, 8}},
    {{kEqualize, 8, 0}, {kEqualize, 6, 0}},
};
constexpr Policy kCifar10{
    {{kInvert, 1, 0}, {kContrast, 2, 6}},         {{kRotate, 7, 2}, {kTranslateX, 3, 9}},
    {{kSharpness, 8, 1}, {kSharpness, 9, 3}},     {{kShearY, 5, 8}, {kTranslateY, 7, 9}},
    {{kAutoContrast, 5, 0}, {kEqualize, 9, 0}},   {{kShearY, 2, 7}, {kPosterize, 3, 7}},
    {{kColor, 4, 3}, {kBrightness, 6, 7}},        {{kSharpness, 3, 9}, {kBrightness, 7, 9}},
    {{kEqualize, 6, 0}, {kEqualize, 5, 0}},       {{kContrast, 6, 7}, {kSharpness, 6, 5}},
    {{kColor, 7, 7}, {kTranslateX, 5, 8}},        {{kEqualize, 3, 0}, {kAutoContrast, 4, 0}},
    {{kTranslateY, 4, 3}, {kSharpness, 2, 6}},    {{kBrightness, 9, 6}, {kColor, 2, 8}},
    {{kSolarize, 5, 2}, {kInvert, 0, 0}},         {{kEqualize, 2, 0}, {kAutoContrast, 6, 0}},
    {{kEqualize, 2, 0}, {kEqualize, 6, 0}},       {{kColor, 9, 9}, {kEqualize, 6, 0}},
    {{kAutoContrast, 8, 0}, {kSolarize, 2, 8}},   {{kBrightness, 1, 3}, {kColor, 7, 0}},
    {{kSolarize, 4, 5}, {kAutoContrast, 9, 0}},   {{kTranslateY, 9, 9}, {kTranslateY, 7, 9}},
    {{kAutoContrast, 9, 0}, {kSolarize, 8, 3}},   {{kEqualize, 8, 0}, {kInvert, 1, 0}},
    {{kTranslateY, 7, 9}, {kAutoContrast, 9, 0}},
};
constexpr Policy kSvhn{
    {{kShearX, 9, 4}, {kInvert, 2, 0}},       {{kShearY, 9, 8}, {kInvert, 7, 0}},
    {{kEqualize, 6, 0}, {kSolarize, 6, 6}},   {{kInvert, 9, 0}, {kEqualize, 6, 0}},
    {{kEqualize, 6, 0}, {kRotate, 9, 3}},     {{kShearX, 9, 4}, {kAutoContrast, 8, 0}},
    {{kShearY, 9, 8}, {kInvert, 4, 0}},       {{kShearY, 9, 5}, {kSolarize, 2, 6}},
    {{kInvert, 9, 0}, {kAutoContrast, 8, 0}}, {{kEqualize, 6, 0}, {kRotate, 9, 3}},
    {{kShearX, 9, 4}, {kSolarize, 3, 3}},     {{kShearY, 8, 8}, {kInvert, 7, 0}},
    {{kEqualize, 9, 0}, {kTranslateY, 6, 6}}, {{kInvert, 9, 0}, {kEqualize, 6, 0}},
    {{kContrast, 3, 3}, {kRotate, 8, 4}},     {{kInvert, 8, 0}, {kTranslateY, 0, 2}},
    {{kShearY, 7, 6}, {kSolarize, 4, 8}},     {{kInvert, 6, 0}, {kRotate, 8, 4}},
    {{kShearY, 3, 7}, {kTranslateX, 9, 3}},   {{kShearX, 1, 6}, {kInvert, 6, 0}},
    {{kSolarize, 7, 2}, {kTranslateY, 6, 7}}, {{kShearY, 8, 4}, {kInvert, 8, 0}},
    {{kShearX, 7, 9}, {kTranslateY, 8, 3}},   {{kShearY, 8, 5}, {kAutoContrast, 7, 0}},
    {{kShearX, 7, 2}, {kInvert, 1, 0}},
};

}  // namespace policies

}  // namespace hearth::vision::transforms
