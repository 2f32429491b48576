// A plot plugin that was built from other headers of charts: it refuses this core's hash.
#include <cstdint>

extern "C" bool hearth_plot_draw(uint64_t hash, const void*, void*) { return hash == 1; }
