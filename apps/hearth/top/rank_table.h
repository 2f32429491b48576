#pragma once

#include <string>
#include <vector>

#include "report_ages.h"

namespace hearth::app {

/// A line for each rank and, if there are several, one for all. Throws if a report is malformed.
std::string rank_table(const std::vector<RankReport>& ranks);

/// The same as JSON: the reports with their ages.
std::string ranks_json(const std::string& title, const std::vector<RankReport>& ranks);

}  // namespace hearth::app
