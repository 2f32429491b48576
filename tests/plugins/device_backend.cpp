// A backend of process groups whose buffers are memory of a (simulated) GPU, as NCCL's are. Gloo
// moves the data between the ranks.

#include <dlfcn.h>

#include "distributed/backend.h"
#include "hearth/operators.h"

namespace hearth::distributed {
namespace {

/// Bytes on the GPU, and their copy in host memory, for the duration of a call or a transfer.
class HostCopy {
 public:
  HostCopy(const void* data, int64_t bytes, const BackendCall& call)
      : device_(from_blob(const_cast<void*>(data), {bytes},
                          TensorOptions(kByte).device(call.stream->device()))) {
    HEARTH_CHECK(cuda::current_stream() == *call.stream, "the call's stream is not current");
    host_ = device_.cpu();
  }
  void* data() const { return host_.data_ptr(); }
  void write_back() const { device_.copy_(host_); }

 private:
  Tensor device_, host_;
};

/// A transfer that ends in its first wait().
class DeviceTransfer final : public Transfer {
 public:
  DeviceTransfer(std::unique_ptr<Transfer> inner, HostCopy copy, bool receives)
      : copy_(std::move(copy)), inner_(std::move(inner)), receives_(receives) {}
  int wait(milliseconds timeout) override {
    const int rank = inner_->wait(timeout);
    if (receives_) copy_.write_back();
    return rank;
  }

 private:
  HostCopy copy_;
  std::unique_ptr<Transfer> inner_;
  const bool receives_;
};

int64_t sum(const std::vector<int64_t>& values) {
  int64_t total = 0;
  for (const int64_t value : values) total += value;
  return total;
}

class DeviceBackend final : public Backend {
 public:
  DeviceBackend(std::unique_ptr<Backend> gloo, const BackendOptions& options)
      : gloo_(std::move(gloo)),
        device_(kCUDA, static_cast<DeviceIndex>(cuda::current_device())),
        options_(options) {}
  const char* name() const override { return "device"; }
  Device device() const override { return device_; }
  void check_reduction(ReduceOp op, ScalarType dtype) const override {
    gloo_->check_reduction(op, dtype);
  }

  void all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                  const BackendCall& call) override {
    fails_ = op == ReduceOp::PRODUCT && dtype == kShort;  // for the tests
    const HostCopy copy(data, bytes_of(count, dtype), call);
    gloo_->all_reduce(copy.data(), count, dtype, op, call);
    copy.write_back();
  }
  void reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
              const BackendCall& call) override {
    const HostCopy copy(data, bytes_of(count, dtype), call);
    gloo_->reduce(copy.data(), count, dtype, op, root, call);
    copy.write_back();
  }
  void reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype, ReduceOp op,
                      const BackendCall& call) override {
    const int64_t bytes = bytes_of(count, dtype);
    const HostCopy from(in, bytes * options_.size, call), to(out, bytes, call);
    gloo_->reduce_scatter(from.data(), to.data(), count, dtype, op, call);
    to.write_back();
  }
  void broadcast(void* data, int64_t bytes, int root, const BackendCall& call) override {
    const HostCopy copy(data, bytes, call);
    gloo_->broadcast(copy.data(), bytes, root, call);
    copy.write_back();
  }
  void all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) override {
    const HostCopy from(in, bytes, call), to(out, bytes * options_.size, call);
    gloo_->all_gather(from.data(), to.data(), bytes, call);
    to.write_back();
  }
  void gather(const void* in, void* out, int64_t bytes, int root,
              const BackendCall& call) override {
    const HostCopy from(in, bytes, call);
    if (options_.rank != root) return gloo_->gather(from.data(), nullptr, bytes, root, call);
    const HostCopy to(out, bytes * options_.size, call);
    gloo_->gather(from.data(), to.data(), bytes, root, call);
    to.write_back();
  }
  void scatter(const void* in, void* out, int64_t bytes, int root,
               const BackendCall& call) override {
    const HostCopy to(out, bytes, call);
    if (options_.rank == root) {
      const HostCopy from(in, bytes * options_.size, call);
      gloo_->scatter(from.data(), to.data(), bytes, root, call);
    } else {
      gloo_->scatter(nullptr, to.data(), bytes, root, call);
    }
    to.write_back();
  }
  void all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                  const std::vector<int64_t>& out_bytes, const BackendCall& call) override {
    const HostCopy from(in, sum(in_bytes), call), to(out, sum(out_bytes), call);
    gloo_->all_to_all(from.data(), in_bytes, to.data(), out_bytes, call);
    to.write_back();
  }
  void barrier(const BackendCall& call) override { gloo_->barrier(call); }

  std::unique_ptr<Transfer> send(const void* data, int64_t bytes, int destination,
                                 const BackendCall& call) override {
    const HostCopy copy(data, bytes, call);
    auto transfer = gloo_->send(copy.data(), bytes, destination, call);
    return std::make_unique<DeviceTransfer>(std::move(transfer), copy, false);
  }
  std::unique_ptr<Transfer> receive(void* data, int64_t bytes, int source,
                                    const BackendCall& call) override {
    const HostCopy copy(data, bytes, call);
    auto transfer = gloo_->receive(copy.data(), bytes, source, call);
    return std::make_unique<DeviceTransfer>(std::move(transfer), copy, true);
  }

  void check() override {
    HEARTH_CHECK_AS(DistBackendError, !fails_, "the call failed on the GPU");
  }
  void abort() noexcept override { gloo_->abort(); }

 private:
  static int64_t bytes_of(int64_t count, ScalarType dtype) {
    return count * static_cast<int64_t>(element_size(dtype));
  }

  const std::unique_ptr<Backend> gloo_;
  const Device device_;
  const BackendOptions options_;
  std::atomic<bool> fails_{false};
};

}  // namespace
}  // namespace hearth::distributed

extern "C" __attribute__((visibility("default"))) hearth::distributed::Backend* hearth_gloo_backend(
    int version, const hearth::distributed::BackendOptions* options) {
  using namespace hearth::distributed;
  void* const library = dlopen(HEARTH_GLOO_FILE, RTLD_NOW | RTLD_LOCAL);
  HEARTH_CHECK(library, "cannot open Gloo's plugin: ", dlerror());
  const auto entry = reinterpret_cast<BackendEntry>(dlsym(library, "hearth_gloo_backend"));
  std::unique_ptr<Backend> gloo(entry(version, options));
  return gloo ? new DeviceBackend(std::move(gloo), *options) : nullptr;
}
