#pragma once

#include "distributed/backend.h"
#include "distributed/gloo/abortable_context.h"

namespace hearth::distributed {

/// Gloo over TCP.
class GlooBackend final : public Backend {
 public:
  explicit GlooBackend(const BackendOptions& options);

  const char* name() const override { return "gloo"; }
  void check_reduction(ReduceOp op, ScalarType dtype) const override;
  void all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                  const BackendCall& call) override;
  void reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
              const BackendCall& call) override;
  void reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype, ReduceOp op,
                      const BackendCall& call) override;
  void broadcast(void* data, int64_t bytes, int root, const BackendCall& call) override;
  void all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) override;
  void gather(const void* in, void* out, int64_t bytes, int root, const BackendCall& call) override;
  void scatter(const void* in, void* out, int64_t bytes, int root,
               const BackendCall& call) override;
  void all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                  const std::vector<int64_t>& out_bytes, const BackendCall& call) override;
  void barrier(const BackendCall& call) override;
  std::unique_ptr<Transfer> send(const void* data, int64_t bytes, int destination,
                                 const BackendCall& call) override;
  std::unique_ptr<Transfer> receive(void* data, int64_t bytes, int source,
                                    const BackendCall& call) override;
  void abort() noexcept override;

 private:
  void all_reduce_by_exchange(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                              const BackendCall& call);
  void check_parts(const std::vector<int64_t>& in_bytes, const std::vector<int64_t>& out_bytes,
                   const BackendCall& call);
  void exchange(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                const std::vector<int64_t>& out_bytes, const BackendCall& call);

  std::shared_ptr<AbortableContext> context_;
  std::vector<char> received_;  // by all_reduce_by_exchange
};

}  // namespace hearth::distributed
