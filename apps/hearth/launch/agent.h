#pragma once

namespace hearth::app {

/// `hearth launch --agent`: runs ranks for a launcher on another machine, which writes to stdin.
/// When stdin ends, because the connection has ended, so do the ranks.
int run_agent();

}  // namespace hearth::app
