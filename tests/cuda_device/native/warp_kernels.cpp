// Warp's C interface: modules, kernels and their launch.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "counters.h"
#include "module.h"
#include "scheduler.h"
#include "warp_library.h"

using namespace emulated;

namespace {

std::map<void*, std::shared_ptr<Module>> modules;

// A kernel lives as long as its module, and as long as work or a graph needs it.
struct LoadedKernel {
    std::shared_ptr<Module> module;
    Kernel* kernel;
    u32 configured_shared_bytes = 0;
};
std::map<void*, LoadedKernel> kernels;

// What the device has no room for, or an empty text.
std::string too_large(const LoadedKernel& loaded, u32 block, u32 dynamic_shared_bytes) {
    if (block > THREADS_OF_A_BLOCK) return "a block of " + std::to_string(block) + " threads";
    const u32 shared = loaded.kernel->shared_bytes + dynamic_shared_bytes;
    const u32 most = loaded.configured_shared_bytes ? SHARED_MEMORY_OF_A_BLOCK : STATIC_SHARED_MEMORY;
    const u32 most_dynamic = std::max(STATIC_SHARED_MEMORY, loaded.configured_shared_bytes);
    const bool fits = shared <= most && dynamic_shared_bytes <= most_dynamic;
    return fits ? "" : std::to_string(shared) + " bytes of shared memory";
}

// As wp_cuda_launch_kernel of Warp's library lays the blocks out.
void lay_out(Launch& launch, std::size_t threads, int most_blocks, int block, bool strides) {
    const std::size_t blocks = (threads + static_cast<std::size_t>(block) - 1) / static_cast<std::size_t>(block);
    launch.block[0] = static_cast<u32>(block);
    if (strides) {  // the kernel loops over the rest
        const std::size_t most = most_blocks > 0 ? static_cast<std::size_t>(most_blocks) : 2147483647u;
        launch.grid[0] = static_cast<u32>(std::clamp<std::size_t>(blocks, 1, most));
        return;
    }
    const std::size_t most_x = std::max<std::size_t>((1u << 24) / static_cast<u32>(block), 1);
    launch.grid[0] = static_cast<u32>(std::clamp<std::size_t>(blocks, 1, most_x));
    const std::size_t rows = (blocks + launch.grid[0] - 1) / launch.grid[0];
    launch.grid[1] = static_cast<u32>(std::clamp<std::size_t>(rows, 1, 65535));
    launch.grid[2] = static_cast<u32>(std::clamp<std::size_t>((rows + launch.grid[1] - 1) / launch.grid[1], 1, 65535));
}

}  // namespace

WARP_API void* wp_cuda_load_module(void*, const char* path) {
    Locked lock(interface_lock);
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        fail(Error::not_found, std::string("module ") + path);
        return nullptr;
    }
    if (text.str().find(".version") == std::string::npos) {
        fail(Error::invalid_ptx, std::string("not PTX, which wp.config.cuda_output = \"ptx\" makes: ") + path);
        return nullptr;
    }
    try {
        auto module = std::make_shared<Module>(text.str());
        ++counters.modules;
        modules[module.get()] = module;
        return module.get();
    } catch (const PtxError& error) {
        fail(Error::invalid_ptx, error.text);
        return nullptr;
    }
}

WARP_API void wp_cuda_unload_module(void*, void* module) {
    Locked lock(interface_lock);
    std::erase_if(kernels, [=](const auto& entry) { return entry.second.module.get() == module; });
    modules.erase(module);
}

WARP_API void* wp_cuda_get_kernel(void*, void* module, const char* name) {
    Locked lock(interface_lock);
    const auto found = modules.find(module);
    if (found == modules.end()) return nullptr;
    try {
        Kernel* kernel = &found->second->kernel(name);
        kernels.try_emplace(kernel, LoadedKernel{found->second, kernel});
        return kernel;
    } catch (const PtxError& error) {
        fail(Error::invalid_ptx, std::string("kernel ") + name + ": " + error.text);
        return nullptr;
    }
}

WARP_API std::size_t wp_cuda_launch_kernel(void*, void* kernel, std::size_t threads, int most_blocks, int block,
                                           int strides, int cluster, int shared_bytes, void** arguments, void* stream,
                                           const void*) {
    Locked lock(interface_lock);
    const auto found = kernels.find(kernel);
    if (found == kernels.end()) {
        fail(Error::invalid_value, "cuLaunchKernel: no such kernel");
        return static_cast<std::size_t>(Error::invalid_value);
    }
    if (cluster > 1) {
        fail(Error::not_supported, "clusters of blocks");
        return static_cast<std::size_t>(Error::not_supported);
    }
    if (!threads) return 0;
    if (block <= 0) block = 256;
    const u32 dynamic_shared_bytes = static_cast<u32>(std::max(shared_bytes, 0));
    const std::string reason = too_large(found->second, static_cast<u32>(block), dynamic_shared_bytes);
    if (!reason.empty()) {
        fail(Error::invalid_value, "cuLaunchKernel: " + reason);
        return static_cast<std::size_t>(Error::invalid_value);
    }
    const Kernel& launched = *found->second.kernel;
    Launch launch;
    launch.kernel = &launched;
    launch.dynamic_shared_bytes = dynamic_shared_bytes;
    launch.parameters.resize(launched.parameter_bytes);
    for (std::size_t k = 0; k < launched.parameters.size(); ++k)
        std::memcpy(&launch.parameters[launched.parameters[k].offset], arguments[k], launched.parameters[k].size);
    lay_out(launch, threads, most_blocks, block, strides);
    ++counters.launches;
    const bool submitted =
        submit(stream_argument(stream), launched.name.c_str(), [launch, module = found->second.module] {
            const Failure failure = run(launch);
            if (failure.error != Error::none) fail_device(failure.error, failure.text);
        });
    if (submitted) return 0;
    return static_cast<std::size_t>(device_error() != Error::none ? device_error() : Error::capture_invalidated);
}

WARP_API bool wp_cuda_configure_kernel_shared_memory(void* kernel, int bytes) {
    Locked lock(interface_lock);
    const auto found = kernels.find(kernel);
    if (found == kernels.end()) return false;
    const u32 dynamic = static_cast<u32>(std::max(bytes, 0));
    if (found->second.kernel->shared_bytes + dynamic > SHARED_MEMORY_OF_A_BLOCK)
        return fail(Error::invalid_value, "cuFuncSetAttribute: " + std::to_string(bytes) + " bytes of shared memory");
    found->second.configured_shared_bytes = dynamic;
    return true;
}

WARP_API int wp_cuda_get_kernel_static_shared_memory(void*, void* kernel) {
    Locked lock(interface_lock);
    const auto found = kernels.find(kernel);
    return found == kernels.end() ? -1 : static_cast<int>(found->second.kernel->shared_bytes);
}

WARP_API void emulated_cuda_last_warp_first(int is_so) { set_last_warp_first(is_so != 0); }

// Registers and spills are ptxas's choice, which is not run.
WARP_API bool wp_cuda_get_kernel_properties(void*, void* kernel, int* properties, int count) {
    if (!kernel || !properties || count != 2) return false;
    properties[0] = properties[1] = 0;
    return true;
}

WARP_API bool wp_cuda_set_kernel_cluster_attrs(void*, int, int, int) { return true; }
WARP_API int wp_cuda_get_max_cluster_dim(void*, void*, int, int) { return 1; }
WARP_API bool wp_cuda_get_suggested_block_size(void*, void*, int, int* block, int* grid) {
    *block = 256;
    *grid = MULTIPROCESSORS;
    return true;
}
