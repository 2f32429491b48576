// Stands for a plot plugin that was built from another version of the headers of charts: it refuses
// this core's hash.
#include <cstdint>

extern "C" bool hearth_plot_draw(uint64_t hash, const void*, void*) { return hash == 1; }
