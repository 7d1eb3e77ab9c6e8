// Runs a kernel: block after block, in each the warps, in each warp the lanes that are at the smallest address.
#pragma once
#include <string>

#include "instruction.h"

namespace emulated {

struct Launch {
    const Kernel* kernel = nullptr;
    std::vector<u8> parameters;
    u32 grid[3] = {1, 1, 1};
    u32 block[3] = {1, 1, 1};
    u32 dynamic_shared_bytes = 0;
};

struct Failure {
    Error error = Error::none;
    std::string text;
};

Failure run(const Launch& launch);

// Run the last warp of a block first, up to each barrier (EMULATED_CUDA_LAST_WARP_FIRST=1).
void set_last_warp_first(bool is_so);

}  // namespace emulated
