# What `cmake --install` puts where, so that user programs say find_package(tilec) and link
# tile::tile, or `pkg-config --cflags --libs tilec`; and the Debian package made of it. tests/package is
# such a program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tile)
  set(tilePackageDir ${CMAKE_INSTALL_LIBDIR}/cmake/tilec)
  set_target_properties(tile tile_rt PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  foreach(library tile tile_rt)
    target_compile_features(${library} INTERFACE cxx_std_20)
  endforeach()
  # tile::tile and tile::rt, here as in projects that find the package.
  set_target_properties(tile_rt PROPERTIES EXPORT_NAME rt)
  add_library(tile::tile ALIAS tile)
  add_library(tile::rt ALIAS tile_rt)
  install(TARGETS tile_rt EXPORT tilecTargets)
  # What -ltile finds is a linker script, as of other libraries in two parts: a program that names it alone links what lies in
  # libtile_rt.so, too. Whoever loads the library himself names libtile.so.0.
  install(TARGETS tile EXPORT tilecTargets LIBRARY NAMELINK_SKIP)
  file(WRITE ${PROJECT_BINARY_DIR}/linkerscript/libtile.so
    "/* GNU ld script */\nINPUT(libtile.so.${PROJECT_VERSION_MAJOR} AS_NEEDED(-ltile_rt))\n")
  install(FILES ${PROJECT_BINARY_DIR}/linkerscript/libtile.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # The same in the build's folder, for programs that are not part of this build, instead of the name that CMake links there.
  get_target_property(tileLibraryFolder tile LIBRARY_OUTPUT_DIRECTORY)
  add_custom_command(OUTPUT linkerscript/used COMMENT "Letting -ltile find the runtime, too"
    COMMAND ${CMAKE_COMMAND} -E rm -f ${tileLibraryFolder}/libtile.so
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_BINARY_DIR}/linkerscript/libtile.so ${tileLibraryFolder}/libtile.so
    COMMAND ${CMAKE_COMMAND} -E touch linkerscript/used
    DEPENDS tile)
  add_custom_target(tile_link_name ALL DEPENDS linkerscript/used)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tilecTargets NAMESPACE tile:: DESTINATION ${tilePackageDir})
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/tilecConfig.cmake ${CMAKE_CURRENT_LIST_DIR}/TileKernels.cmake
    DESTINATION ${tilePackageDir})
  write_basic_package_version_file(tilecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tilecConfigVersion.cmake DESTINATION ${tilePackageDir})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tilec.pc.in tilec.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tilec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
# Tables of tuned settings, which libtile.so finds from where it lies, in the build's folder too.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/ops/tuned DESTINATION ${CMAKE_INSTALL_DATADIR}/tilec)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/tilec)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/ops/tuned ${PROJECT_BINARY_DIR}/share/tilec/tuned SYMBOLIC)

foreach(program tilec tile-opt)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program} EXPORT tilecTargets)
  endif()
endforeach()

# The Python module, where Debian's interpreter looks for it; it finds libtile.so from there.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tilec DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN __pycache__ EXCLUDE)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/cmake/copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilec)

# `tools/dev package`: one Debian package. Its dependencies are read off the files by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilec)
set(CPACK_PACKAGE_VENDOR tilec)
set(CPACK_PACKAGE_CONTACT "the tilec project <tilec@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tile-based kernel language and JIT compiler embedded in C++")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "pkg-config, python3-numpy")
include(CPack)
