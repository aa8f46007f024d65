# What user programs link, exporting the names of namespace tile and of tile_c.h:
#
#   libtile_rt.so   the runtime: devices, streams, tensors, graphs, and kernels compiled ahead of time. No MLIR, no LLVM.
#   libtile.so      the language, the compiler and the ops, on top of it
#
# They are made of the objects of the static libraries. Objects instead of whole archives: an archive also arrives through
# the link interface of the next one, and would be linked twice. What is not ours in those interfaces (MLIR, LLVM, dl,
# ...) is linked privately.
get_property(tileLibraries GLOBAL PROPERTY TILE_LIBRARIES)
set(tileRuntimeLibraries
  tile_base tile_target tile_compiled tile_call tile_device tile_vgpu tile_trace tile_launch tile_host tile_aot
  tile_capi)

function(tile_add_shared_library name)
  add_library(${name} SHARED)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  foreach(library IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${library}>)
    get_target_property(items ${library} INTERFACE_LINK_LIBRARIES)
    if(items)
      string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" items "${items}")
      list(REMOVE_ITEM items ${tileLibraries})
      target_link_libraries(${name} PRIVATE ${items})
    endif()
  endforeach()
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,-Bsymbolic-functions)
  if(NOT TILE_SANITIZE) # the sanitizers' run time is in the program, not in a shared library
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

if(tileLibraries)
  set(tileCompilerLibraries ${tileLibraries})
  list(REMOVE_ITEM tileCompilerLibraries ${tileRuntimeLibraries})
  tile_add_shared_library(tile_rt ${tileRuntimeLibraries})
  tile_add_shared_library(tile ${tileCompilerLibraries})
  target_link_libraries(tile PUBLIC tile_rt)
endif()
