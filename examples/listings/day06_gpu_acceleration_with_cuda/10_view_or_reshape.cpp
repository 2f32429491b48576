#include "../listing.h"

void listing() {
  // Create a contiguous tensor
  auto tensor_contig = torch::arange(12).reshape({3, 4});
  std::cout << "\nContiguous Tensor Shape: " << tensor_contig.sizes() << '\n';

  // Use view
  auto reshaped_view = tensor_contig.view({6, 2});
  std::cout << "Reshaped with view: " << reshaped_view.sizes() << '\n';

  // Transpose to make it non-contiguous
  auto tensor_non_contig = tensor_contig.transpose(0, 1);
  std::cout << "\nNon-Contiguous Tensor Shape: " << tensor_non_contig.sizes() << '\n';

  // Attempt to use view (will fail)
  try {
    reshaped_view = tensor_non_contig.view({6, 2});
  } catch (const c10::Error& e) {
    std::cout << "Error with view on non-contiguous tensor: " << e.what_without_backtrace() << '\n';
  }

  // Use reshape instead
  auto reshaped_reshape = tensor_non_contig.reshape({6, 2});
  std::cout << "Reshaped with reshape: " << reshaped_reshape.sizes() << '\n';
}

int main() { return run(listing); }
