#include <hearth/device.h>

#include <cstdio>

int main() { std::printf("%s\n", hearth::Device("cuda:1").str().c_str()); }
