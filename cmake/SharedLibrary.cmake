# libtile.so, what user programs link: the objects of every static library in one file, exporting
# the names of namespace tile.
#
# Objects instead of whole archives: an archive also arrives through the link interface of the next
# one, and would be linked twice. What is not ours in those interfaces (MLIR, LLVM, dl, ...) is
# linked privately.
get_property(tileLibraries GLOBAL PROPERTY TILE_LIBRARIES)
if(tileLibraries)
  add_library(tile SHARED)
  set_target_properties(tile PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  foreach(library IN LISTS tileLibraries)
    target_sources(tile PRIVATE $<TARGET_OBJECTS:${library}>)
    get_target_property(items ${library} INTERFACE_LINK_LIBRARIES)
    string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" items "${items}")
    list(REMOVE_ITEM items ${tileLibraries})
    target_link_libraries(tile PRIVATE ${items})
  endforeach()
  target_include_directories(tile INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_options(tile PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,-Bsymbolic-functions)
  if(NOT TILE_SANITIZE) # the sanitizers' run time is in the program, not in a shared library
    target_link_options(tile PRIVATE -Wl,-z,defs)
  endif()
endif()
