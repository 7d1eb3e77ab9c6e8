// Warp's C interface: arrays with strides, scans, sums. Warp's own functions for the CPU do the work, since memory of
// the emulated device is memory of the host.
#include "counters.h"
#include "errors.h"
#include "warp_library.h"

using namespace emulated;

extern "C" {
bool wp_array_copy_host(void* to, void* from, int to_type, int from_type, int element_bytes);
void wp_array_fill_host(void* array, int array_type, const void* value, int value_bytes);
void wp_array_scan_int_host(u64 in, u64 out, int n, int in_stride, int out_stride, int length, bool inclusive);
void wp_array_scan_int64_host(u64 in, u64 out, int n, int in_stride, int out_stride, int length, bool inclusive);
void wp_array_scan_float_host(u64 in, u64 out, int n, int in_stride, int out_stride, int length, bool inclusive);
void wp_array_scan_double_host(u64 in, u64 out, int n, int in_stride, int out_stride, int length, bool inclusive);
void wp_array_sum_float_host(u64 a, u64 out, int count, int stride, int length);
void wp_array_sum_double_host(u64 a, u64 out, int count, int stride, int length);
void wp_array_inner_float_host(u64 a, u64 b, u64 out, int count, int stride_a, int stride_b, int length);
void wp_array_inner_double_host(u64 a, u64 b, u64 out, int count, int stride_a, int stride_b, int length);
}

namespace {

// Bytes of Warp's array_t and indexedarray_t; 0 for arrays of Omniverse Fabric, which are not emulated.
std::size_t descriptor_bytes(int array_type) { return array_type == 0 ? 56 : array_type == 1 ? 104 : 0; }

bool refuse_fabric() { return fail(Error::not_supported, "arrays of Omniverse Fabric"); }

}  // namespace

WARP_API bool wp_array_copy_device(void*, void* to, void* from, int to_type, int from_type, int element_bytes) {
    Locked lock(interface_lock);
    ++counters.strided_copies;
    if (!descriptor_bytes(to_type) || !descriptor_bytes(from_type)) return refuse_fabric();
    const Kept target = keep(to, descriptor_bytes(to_type)), source = keep(from, descriptor_bytes(from_type));
    return submit(current_stream(), "strided copy", [=] {
        wp_array_copy_host(target->data(), source->data(), to_type, from_type, element_bytes);
    });
}

WARP_API void wp_array_fill_device(void*, void* array, int array_type, const void* value, int value_bytes) {
    Locked lock(interface_lock);
    ++counters.fills;
    if (!descriptor_bytes(array_type)) {
        refuse_fabric();
        return;
    }
    const Kept target = keep(array, descriptor_bytes(array_type));
    const Kept number = keep(value, static_cast<std::size_t>(value_bytes));
    submit(current_stream(), "strided fill",
           [=] { wp_array_fill_host(target->data(), array_type, number->data(), value_bytes); });
}

namespace {

template <class Function, class... Arguments>
bool reduce_later(const char* name, Function function, Arguments... arguments) {
    Locked lock(interface_lock);
    ++counters.reductions;
    return submit(current_stream(), name, [=] { function(arguments...); });
}

}  // namespace

WARP_API bool wp_array_scan_int_device(u64 in, u64 out, int n, int from, int to, int length, bool inclusive) {
    return reduce_later("scan", wp_array_scan_int_host, in, out, n, from, to, length, inclusive);
}
WARP_API bool wp_array_scan_int64_device(u64 in, u64 out, int n, int from, int to, int length, bool inclusive) {
    return reduce_later("scan", wp_array_scan_int64_host, in, out, n, from, to, length, inclusive);
}
WARP_API bool wp_array_scan_float_device(u64 in, u64 out, int n, int from, int to, int length, bool inclusive) {
    return reduce_later("scan", wp_array_scan_float_host, in, out, n, from, to, length, inclusive);
}
WARP_API bool wp_array_scan_double_device(u64 in, u64 out, int n, int from, int to, int length, bool inclusive) {
    return reduce_later("scan", wp_array_scan_double_host, in, out, n, from, to, length, inclusive);
}
WARP_API void wp_array_sum_float_device(u64 a, u64 out, int count, int stride, int length) {
    reduce_later("sum", wp_array_sum_float_host, a, out, count, stride, length);
}
WARP_API void wp_array_sum_double_device(u64 a, u64 out, int count, int stride, int length) {
    reduce_later("sum", wp_array_sum_double_host, a, out, count, stride, length);
}
WARP_API void wp_array_inner_float_device(u64 a, u64 b, u64 out, int count, int stride_a, int stride_b, int length) {
    reduce_later("inner product", wp_array_inner_float_host, a, b, out, count, stride_a, stride_b, length);
}
WARP_API void wp_array_inner_double_device(u64 a, u64 b, u64 out, int count, int stride_a, int stride_b, int length) {
    reduce_later("inner product", wp_array_inner_double_host, a, b, out, count, stride_a, stride_b, length);
}
