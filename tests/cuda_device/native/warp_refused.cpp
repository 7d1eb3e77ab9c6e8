// Warp's C interface: what the emulated device refuses. Each call fails with the name of its function.
#include "errors.h"
#include "warp_library.h"

// Arguments are ignored, and 0 is "failed" in each of these functions.
#define REFUSED(name)                                                 \
    WARP_API void* name() {                                           \
        emulated::Locked lock(emulated::interface_lock);              \
        emulated::fail(emulated::Error::not_supported, #name);        \
        return nullptr;                                               \
    }

// Conditional nodes, and nodes that are added by hand
REFUSED(wp_cuda_graph_alloc_query)
REFUSED(wp_cuda_graph_check_conditional_body)
REFUSED(wp_cuda_graph_insert_alloc_node)
REFUSED(wp_cuda_graph_insert_empty_node)
REFUSED(wp_cuda_graph_insert_free_node)
REFUSED(wp_cuda_graph_insert_if_else)
REFUSED(wp_cuda_graph_insert_memcpy)
REFUSED(wp_cuda_graph_insert_memcpy_batch)
REFUSED(wp_cuda_graph_insert_while)
REFUSED(wp_cuda_graph_node_depends_on)
REFUSED(wp_cuda_graph_set_condition)
REFUSED(wp_cuda_graph_update_memcpy)
REFUSED(wp_cuda_graph_update_memcpy_batch)

// Memory and events of other processes
REFUSED(wp_cuda_ipc_close_mem_handle)
REFUSED(wp_cuda_ipc_get_event_handle)
REFUSED(wp_cuda_ipc_get_mem_handle)
REFUSED(wp_cuda_ipc_open_event_handle)
REFUSED(wp_cuda_ipc_open_mem_handle)

// OpenGL, textures
REFUSED(wp_cuda_graphics_device_ptr_and_size)
REFUSED(wp_cuda_graphics_map)
REFUSED(wp_cuda_graphics_register_gl_buffer)
REFUSED(wp_cuda_graphics_register_gl_image)
REFUSED(wp_cuda_graphics_sub_resource_get_mapped_array)
REFUSED(wp_cuda_graphics_unmap)
REFUSED(wp_cuda_graphics_unregister_resource)
REFUSED(wp_surface_object_create_device)
REFUSED(wp_surface_object_destroy_device)
REFUSED(wp_texture_copy_device)
REFUSED(wp_texture_create_device)
REFUSED(wp_texture_descriptor_from_cuda_array)
REFUSED(wp_texture_destroy_device)
REFUSED(wp_texture_get_mip_level_array_device)
REFUSED(wp_texture_object_create_device)
REFUSED(wp_texture_object_destroy_device)

// Meshes, bounding volumes, hash grids, volumes: Warp's own compiled kernels
REFUSED(wp_bvh_create_device)
REFUSED(wp_bvh_destroy_device)
REFUSED(wp_bvh_rebuild_device)
REFUSED(wp_bvh_refit_device)
REFUSED(wp_hash_grid_create_device)
REFUSED(wp_hash_grid_destroy_device)
REFUSED(wp_hash_grid_reserve_device)
REFUSED(wp_hash_grid_update_device)
REFUSED(wp_mesh_create_device)
REFUSED(wp_mesh_destroy_device)
REFUSED(wp_mesh_refit_device)
REFUSED(wp_mesh_set_points_device)
REFUSED(wp_mesh_set_velocities_device)
REFUSED(wp_volume_create_device)
REFUSED(wp_volume_destroy_device)
REFUSED(wp_volume_from_active_voxels_device)
REFUSED(wp_volume_from_tiles_device)
REFUSED(wp_volume_get_tiles_device)
REFUSED(wp_volume_get_voxels_device)
REFUSED(wp_volume_index_from_tiles_device)
REFUSED(wp_volume_index_rebuild_from_tiles_device)
REFUSED(wp_volume_rebuild_from_active_voxels_device)
REFUSED(wp_volume_rebuild_from_tiles_device)

// Sorting, sparse matrices, run lengths, deterministic sums
REFUSED(wp_bsr_compress_inplace_device)
REFUSED(wp_bsr_matrix_from_triplets_device)
REFUSED(wp_bsr_transpose_device)
REFUSED(wp_deterministic_counter_scan_device)
REFUSED(wp_deterministic_counter_validate_replay_device)
REFUSED(wp_deterministic_counter_writeback_device)
REFUSED(wp_deterministic_sort_reduce_device)
REFUSED(wp_radix_sort_pairs_double_device)
REFUSED(wp_radix_sort_pairs_float_device)
REFUSED(wp_radix_sort_pairs_int64_device)
REFUSED(wp_radix_sort_pairs_int_device)
REFUSED(wp_radix_sort_pairs_uint64_device)
REFUSED(wp_radix_sort_pairs_uint_device)
REFUSED(wp_runlength_encode_int_device)
REFUSED(wp_segmented_sort_pairs_float_device)
REFUSED(wp_segmented_sort_pairs_int_device)

