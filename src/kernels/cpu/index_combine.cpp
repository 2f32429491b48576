#include <vector>

#include "kernels/cpu/index_loop.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// The elements of the table that a job can reach: the dimensions of its origin that are not
/// indexed, and the indexed ones.
View reachable(const IndexJob& job) {
  View table;
  table.data = job.origin.data;
  table.dtype = job.origin.dtype;
  table.numel = 1;
  const auto push = [&](int64_t size, int64_t stride) {
    table.sizes[table.dim] = size;
    table.strides[table.dim++] = stride;
    table.numel *= size;
  };
  for (int d = 0; d < job.origin.dim; ++d)
    if (job.origin.strides[d] != 0) push(job.origin.sizes[d], job.origin.strides[d]);
  for (const IndexedDim& dim : job.indices) push(dim.size, dim.stride);
  return table;
}

/// A float32 table in scratch memory for the reachable elements of another.
View scratch_like(const View& table, Ctx& ctx) {
  View result = table;
  result.dtype = kFloat;
  result.make_contiguous();
  result.data = ctx.scratch(size_t(table.numel) * sizeof(float));
  return result;
}

}  // namespace

void combine_indexed(const IndexJob& job, const Mover& move, Ctx& ctx) {
  if (!is_reduced_float(job.origin.dtype)) return write_indexed(job, move, ctx);
  if (job.values.numel == 0) return;
  const View table = reachable(job), totals = scratch_like(table, ctx);
  View origin = job.origin;
  origin.dtype = kFloat;
  origin.data = totals.data;
  int next = 0;
  for (int d = 0; d < origin.dim; ++d)
    if (origin.strides[d] != 0) origin.strides[d] = totals.strides[next++];
  std::vector<IndexedDim> indices(job.indices.begin(), job.indices.end());
  for (IndexedDim& dim : indices) dim.stride = totals.strides[next++];
  copy(table, totals, ctx);
  write_indexed({origin, indices, job.values, job.allow_negative}, move, ctx);
  copy(totals, table, ctx);
}

}  // namespace hearth::cpu
