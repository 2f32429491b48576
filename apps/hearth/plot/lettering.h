#pragma once

#include <string>
#include <vector>

#include "plot/canvas.h"

namespace hearth::app {

/// The strokes of a text whose capitals are `height` high, from the left end of its baseline at
/// the origin. What is not ASCII becomes a box.
std::vector<Polyline> lettering(const std::string& text, double height);
/// How long lettering() is.
double length_of(const std::string& text, double height);

}  // namespace hearth::app
