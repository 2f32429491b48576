#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  // Create a tensor on the GPU
  auto gpu_tensor = torch::randn({1, 3, 224, 224}).to("cuda");

  // Perform a convolution operation on the GPU
  auto conv_layer = nn::Conv2d(nn::Conv2dOptions(3, 64, /*kernel_size=*/3).padding(1));
  conv_layer->to("cuda");
  auto output = conv_layer(gpu_tensor);

  std::cout << output.sizes() << ' ' << output.device() << '\n';
}

int main() { return run(listing); }
