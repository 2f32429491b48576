// Storages over a program's memory, allocators, and the implementation of tensors; the values are
// LibTorch's.
#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/throws.h"

namespace hand_written_memory {
namespace {

using torch::Tensor;

int allocations = 0, frees = 0;

void count_and_free(void* data) {
  ++frees;
  std::free(data);
}

struct CountingAllocator : c10::Allocator {
  c10::DataPtr allocate(size_t nbytes) override {
    ++allocations;
    void* const data = std::malloc(nbytes ? nbytes : 1);
    return {data, data, &count_and_free, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &count_and_free; }
  void copy_data(void* to, const void* from, size_t nbytes) const override {
    default_copy_data(to, from, nbytes);
  }
};

CountingAllocator& counting() {
  static CountingAllocator allocator;
  allocations = frees = 0;
  return allocator;
}

Tensor over(const c10::Storage& storage, int64_t size) {
  return torch::empty({0}).set_(storage, 0, {size}, {1});
}

}  // namespace

TEST(Storages, OfAProgramsAllocatorGrow) {
  CountingAllocator& allocator = counting();
  {
    const c10::Storage storage(c10::Storage::use_byte_size_t(), 16, &allocator, true);
    const Tensor t = over(storage, 4).fill_(3);
    EXPECT_EQ(allocations, 1);
    EXPECT_EQ(storage.data_ptr().get_context(), storage.data());
    EXPECT_EQ(storage.data_ptr().get_deleter(), &count_and_free);
    EXPECT_TRUE(storage.resizable());
    EXPECT_EQ(storage.allocator(), &allocator);
    t.resize_({8});
    EXPECT_EQ(allocations, 2);
    EXPECT_EQ(frees, 1);
    EXPECT_EQ(t[3].item<float>(), 3);
  }
  EXPECT_EQ(frees, 2);
}

TEST(Storages, OverGivenMemory) {
  CountingAllocator& allocator = counting();
  c10::DataPtr data = allocator.allocate(16);
  void* const address = data.get();
  const c10::Storage storage(c10::Storage::use_byte_size_t(), 16, std::move(data));
  EXPECT_FALSE(storage.resizable());
  EXPECT_TRUE(storage.unique());
  EXPECT_EQ(storage.mutable_data_ptr().get(), address);
  EXPECT_ERROR(over(storage, 4).resize_({8}), "Trying to resize storage that is not resizable");
  c10::DataPtr former = storage.set_data_ptr(c10::DataPtr(nullptr, c10::kCPU));
  EXPECT_EQ(former.get(), address);
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(frees, 0);
  former.clear();
  EXPECT_EQ(frees, 1);
  storage.set_data_ptr_noswap(allocator.allocate(16));
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, c10::kCPU));
  EXPECT_EQ(frees, 2);
  storage.set_nbytes(8);
  EXPECT_EQ(storage.nbytes(), 8U);
}

TEST(Storages, KeepHearthsMemoryAlive) {
  const Tensor x = torch::ones({4});
  void* const address = x.data_ptr();
  c10::DataPtr former = x.storage().set_data_ptr(counting().allocate(16));
  EXPECT_EQ(former.get(), address);
  EXPECT_EQ(static_cast<const float*>(former.get())[3], 1);
  x.fill_(2);
  EXPECT_EQ(x.sum().item<float>(), 8);
}

TEST(DataPtrs, OwnTheirContext) {
  CountingAllocator& allocator = counting();
  c10::DataPtr data = allocator.allocate(4);
  EXPECT_FALSE(data == nullptr);
  EXPECT_EQ(data.cast_context<char>(&count_and_free), data.get());
  EXPECT_EQ(data.cast_context<char>(&std::free), nullptr);
  EXPECT_TRUE(allocator.is_simple_data_ptr(data));
  {
    const auto context = data.move_context();
    EXPECT_EQ(context.get(), data.get());
    EXPECT_EQ(data.get_context(), nullptr);
  }
  EXPECT_EQ(frees, 1);
  allocator.raw_deallocate(allocator.raw_allocate(8));
  EXPECT_EQ(frees, 2);
  const c10::DataPtr copy = allocator.clone("abc", 4);
  EXPECT_STREQ(static_cast<const char*>(copy.get()), "abc");
}

TEST(Allocators, OfAProgramServeAllTensors) {
  CountingAllocator& allocator = counting();
  c10::Allocator* const former = c10::GetAllocator(c10::kCPU);
  c10::SetAllocator(c10::kCPU, &allocator, 200);
  {
    const Tensor t = torch::ones({100});
    EXPECT_GE(allocations, 1);
    EXPECT_EQ((t + t).sum().item<float>(), 200);
    EXPECT_EQ(c10::GetCPUAllocator(), &allocator);
  }
  EXPECT_EQ(allocations, frees);
  c10::SetAllocator(c10::kCPU, former, 200);
  allocations = 0;
  torch::ones({100});
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(at::getCPUAllocator(), c10::GetDefaultCPUAllocator());
  const c10::DataPtr block = at::getCPUAllocator()->allocate(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0U);
  const Tensor u = at::detail::empty_generic({2, 3}, &allocator, 0, torch::kInt, {});
  EXPECT_EQ(u.storage().nbytes(), 24U);
  EXPECT_EQ(allocations, 1);
}

TEST(TensorImpls, ShowAndChangeMetadata) {
  const Tensor t = torch::arange(6).reshape({2, 3});
  c10::TensorImpl* const impl = t.unsafeGetTensorImpl();
  EXPECT_EQ(impl->sizes(), torch::IntArrayRef({2, 3}));
  EXPECT_EQ(impl->stride(0), 3);
  EXPECT_EQ(impl->numel() + impl->dim() + impl->storage_offset(), 8);
  EXPECT_EQ(impl->dtype(), torch::kLong);
  EXPECT_EQ(impl->data(), t.data_ptr());
  EXPECT_TRUE(impl->is_contiguous() && impl->is_cpu() && impl->has_storage());
  impl->set_sizes_contiguous({3, 2});
  impl->bump_version();
  EXPECT_EQ(t._version(), 1);
  EXPECT_EQ(t[2][1].item<int64_t>(), 5);
  impl->set_sizes_and_strides(at::IntArrayRef({2, 3}), at::IntArrayRef({1, 2}));
  EXPECT_EQ(t[1][0].item<int64_t>(), 1);
  impl->set_storage_offset(1);
  EXPECT_EQ(t[0][0].item<int64_t>(), 1);
}

TEST(TensorImpls, HaveOwners) {
  Tensor t = torch::ones({2});
  const c10::intrusive_ptr<c10::TensorImpl> owner = t.getIntrusivePtr();
  EXPECT_TRUE(Tensor(owner).is_same(t));
  const auto taken = t.unsafeReleaseIntrusivePtr();
  EXPECT_FALSE(t.defined());
  EXPECT_EQ(Tensor::wrap_tensor_impl(taken).sum().item<float>(), 2);
  const auto sum_of = [](const at::TensorBase& base) { return Tensor(base).sum().item<float>(); };
  EXPECT_EQ(sum_of(torch::ones({3})), 3);
  const auto accessor = torch::ones({2, 2}).packed_accessor<float, 2>();
  EXPECT_EQ(accessor.size(0), 2);
}

TEST(SharedMemory, ReachesProcessesForkedLater) {
  const Tensor t = torch::zeros({3});
  t.share_memory_();
  const pid_t child = fork();
  if (child == 0) {
    static_cast<float*>(t.data_ptr())[1] = 7;
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(t[1].item<float>(), 7);
}

TEST(Storages, SetNbytesChangeOnlyTheNumber) {
  for (int round = 0; round < 200; ++round) {
    torch::Tensor small = torch::ones({8});
    small.storage().set_nbytes(4096);
    EXPECT_EQ(small.storage().nbytes(), 4096u);
  }
  const torch::Tensor a = torch::full({1024}, 1.0f), b = torch::full({8}, 2.0f),
                      c = torch::full({1024}, 3.0f);
  EXPECT_EQ(a.sum().item<float>(), 1024);
  EXPECT_EQ(b.sum().item<float>(), 16);
  torch::Tensor one = torch::ones({1});
  one.storage().set_nbytes(0);
  one.resize_({4});
  EXPECT_EQ(one.fill_(2).sum().item<float>(), 8);
}

}  // namespace hand_written_memory
