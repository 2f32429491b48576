#pragma once

#include <torch/torch.h>

#include <exception>
#include <iostream>

/// Runs a listing as a program; an uncaught error is printed and ends it, as in Python.
template <class Listing>
int run(const Listing& listing) {
  try {
    listing();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << '\n';
    return 1;
  }
}
