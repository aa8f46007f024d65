# find_package(tilec): tile::tile, the language with its compiler; tile::rt, the runtime alone; the programs tile::tilec and
# tile::tile-opt; and tile_add_kernels().
include(${CMAKE_CURRENT_LIST_DIR}/tilecTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TileKernels.cmake)
