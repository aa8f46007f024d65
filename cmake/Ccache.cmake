# Compiles through ccache where it is installed. Its settings travel on the command line, so that a plain `ninja` uses them too.
#
# - Precompiled headers need the sloppiness below and -fno-pch-timestamp (cmake/Tile.cmake), else ccache stores nothing.
# - base_dir makes paths relative, so that another checkout of the same sources hits the same entries.
find_program(TILE_CCACHE ccache)
if(TILE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    /usr/bin/env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    ${TILE_CCACHE})
endif()
