// Functions of Warp's own library whose names this library has too.
#include <dlfcn.h>

#include <string>

namespace {

void* warp_library() {
    static void* const library = [] {
        Dl_info here;
        dladdr(reinterpret_cast<void*>(&warp_library), &here);
        const std::string path = here.dli_fname;
        const std::string folder = path.substr(0, path.rfind('/') + 1);
        return dlopen((folder + "warp_of_nvidia.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }();
    return library;
}

}  // namespace

extern "C" const char* warp_error_string_of_library() {
    using Text = const char* (*)();
    const auto text = reinterpret_cast<Text>(dlsym(warp_library(), "wp_get_error_string"));
    return text ? text() : "";
}
