# Compiles through ccache where it is installed. Its settings travel on the command line, so that a
# plain `ninja` uses them too.
#
# What it takes for a second checkout of the same sources to hit, precompiled headers included
# (docs/decisions/0002):
# - the sloppiness below and -fno-pch-timestamp (cmake/Tile.cmake), else ccache stores nothing;
# - base_dir, which makes paths relative;
# - pch_external_checksum: the bytes of a precompiled header hold the path of the checkout, so
#   ccache is given a hash of the headers it consists of instead (tile_add_pch_sum). The precompiled
#   header itself is built once in each checkout;
# - clang gets the precompiled header alone. CMake would also pass its source as an absolute
#   -include, which adds nothing.
find_program(TILE_CCACHE ccache)
if(TILE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    /usr/bin/env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_PCH_EXTSUM=1
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    ${TILE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  endif()
endif()

# Keeps the .sum file of a precompiled header's owner target up to date.
function(tile_add_pch_sum owner header)
  if(NOT TILE_CCACHE)
    return()
  endif()
  set(sum ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.pch.sum)
  add_custom_command(
    OUTPUT ${sum}
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/pch_sum.sh ${sum} ${CMAKE_CXX_COMPILER} -std=c++20 -x c++-header
      "-I$<JOIN:$<TARGET_PROPERTY:${owner},INCLUDE_DIRECTORIES>,;-I>" ${header}
    COMMAND_EXPAND_LISTS VERBATIM
    DEPENDS ${header} ${PROJECT_SOURCE_DIR}/cmake/pch_sum.sh
    DEPFILE ${sum}.d
    COMMENT "Hashing the headers of ${owner}")
  add_custom_target(${owner}_sum DEPENDS ${sum})
  add_dependencies(${owner} ${owner}_sum)
endfunction()
