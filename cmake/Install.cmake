# What `cmake --install` puts where, so that user programs say find_package(tilec) and link
# tile::tile. tests/package is such a program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tile)
  set(tilePackageDir ${CMAKE_INSTALL_LIBDIR}/cmake/tilec)
  set_target_properties(tile PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH_USE_LINK_PATH ON)
  target_compile_features(tile INTERFACE cxx_std_20)
  install(TARGETS tile EXPORT tilecTargets)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tilecTargets
    NAMESPACE tile:: FILE tilecConfig.cmake DESTINATION ${tilePackageDir})
  write_basic_package_version_file(tilecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tilecConfigVersion.cmake DESTINATION ${tilePackageDir})
endif()
foreach(program tilec tile-opt)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program})
  endif()
endforeach()
