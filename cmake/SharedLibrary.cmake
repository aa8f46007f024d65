# libtile.so, what user programs link: every static library in one file, exporting the names of namespace tile.
get_property(tileLibraries GLOBAL PROPERTY TILE_LIBRARIES)
if(tileLibraries)
  file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp.in "// libtile.so consists of the static libraries alone.\n")
  configure_file(${PROJECT_BINARY_DIR}/empty.cpp.in ${PROJECT_BINARY_DIR}/empty.cpp COPYONLY)
  add_library(tile SHARED ${PROJECT_BINARY_DIR}/empty.cpp)
  # Only the archives and the dylibs, spelt out: the archives' own link interface would add each of them a second time.
  foreach(library IN LISTS tileLibraries)
    target_link_libraries(tile PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${library}>)
  endforeach()
  target_link_libraries(tile PRIVATE tile_options)
  target_include_directories(tile INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_options(tile PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,-Bsymbolic-functions -Wl,-z,defs)
  set_target_properties(tile PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
endif()
