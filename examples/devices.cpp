// Devices: one program for the CPU and for GPUs. HEARTH_SIM_GPUS=1 simulates one.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

int main() {
  // This line chooses the device; the code for tensors and modules is the same for all.
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  std::cout << cuda::device_count() << " GPUs\n";
  if (!cuda::is_available()) std::cout << cuda::why_not() << '\n';

  // Create a tensor on the device, or move one there.
  Tensor made = ones({2, 3}, device);
  Tensor moved = ones({2, 3}).to(device);
  std::cout << (made + moved).device() << '\n';

  // A module's parameters move in place; its results are on the same device.
  nn::Linear model(3, 1);
  model->to(device);
  Tensor loss = model(moved).sum();
  loss.backward();
  std::cout << model->weight.grad().device() << '\n';

  // Reading a number or copying to the CPU waits for the GPU.
  std::cout << made.sum().item<float>() << ' ' << made.cpu().device() << '\n';

  if (cuda::is_available()) {
    // GPUs compute while the program continues. Streams are queues of work that may overlap.
    const cuda::Stream stream;
    {
      const cuda::StreamGuard guard(stream);
      made.mul_(2);
    }
    stream.synchronize();
    std::cout << made[0] << '\n';
    std::cout << cuda::memory_allocated() / 512 << " blocks of 512 bytes are in use\n";

    // Tensors on different devices cannot be combined.
    try {
      made + ones({2, 3});
    } catch (const Error& error) {
      std::cout << error.what() << '\n';
    }
  }
}
