# The functions with which folders declare their targets, and the flags those get.
#
#   tile_add_library(<name> [MLIR] [NO_EXCEPTIONS] SOURCES ... [LINK ...] [DEPENDS ...])
#   tile_add_executable(<name> [MLIR] SOURCES ... [LINK ...])
#   tile_add_gtest(<name> [MLIR] SOURCES ... [LINK ...] [LABELS ...])    one ctest for the program
#   tile_add_folders(<folder>...)                                        those that exist
#
# MLIR: links the dylibs MLIR and LLVM and uses a precompiled header. NO_EXCEPTIONS: for ir, passes
# and codegen, which never throw. DEPENDS: TableGen targets whose headers the sources include; whoever
# links the library waits for them as well.

set(TILE_SANITIZE "" CACHE STRING "Sanitizers for our own code, as in -fsanitize=")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(tilePchDefault ON)
endif()
option(TILE_PCH "Use precompiled headers (an order of magnitude with clang, little with g++)" ${tilePchDefault})

# Include roots: the repository (private headers), include/ (public ones), the build folder
# (generated ones). A directory property, since mlir_tablegen() takes its -I from there.
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

# Flags of everything we compile. -fPIC and not CMake's property: that would give programs -fPIE,
# and a precompiled header is refused where any such flag differs.
add_library(tile_options INTERFACE)
target_compile_options(tile_options INTERFACE -fPIC -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(tile_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  target_link_options(tile_options INTERFACE -fuse-ld=lld)
endif()
if(TILE_SANITIZE)
  target_compile_options(tile_options INTERFACE
    -fsanitize=${TILE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE})
endif()

# The two precompiled headers, each built once by a target with nothing else in it.
function(tile_add_pch_owner name)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/MlirPch.cpp)
  target_link_libraries(${name} PRIVATE tile_options)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)
  set_target_properties(${name} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  tile_add_pch_sum(${name} ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)
endfunction()
if(TILE_PCH)
  tile_add_pch_owner(tile_pch_exceptions)
  tile_add_pch_owner(tile_pch_no_exceptions -fno-exceptions)
endif()

# What all kinds of target share. The caller has parsed its arguments into `arg_*`.
macro(tile_finish_target name)
  target_link_libraries(${name} PRIVATE tile_options)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_NO_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(arg_MLIR)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
  if(arg_MLIR AND TILE_PCH AND arg_NO_EXCEPTIONS)
    target_precompile_headers(${name} REUSE_FROM tile_pch_no_exceptions)
  elseif(arg_MLIR AND TILE_PCH)
    target_precompile_headers(${name} REUSE_FROM tile_pch_exceptions)
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: arguments not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(tile_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;NO_EXCEPTIONS" "" "SOURCES;LINK;DEPENDS")
  add_library(${name} STATIC ${arg_SOURCES})
  tile_finish_target(${name})
  set_property(GLOBAL APPEND PROPERTY TILE_LIBRARIES ${name})
endfunction()

function(tile_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;NO_EXCEPTIONS" "" "SOURCES;LINK;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  tile_finish_target(${name})
endfunction()

# One ctest per program: starting a process that loads libMLIR costs more than most cases do.
# The JSON report beside it lets tools/dev count single cases and skips.
function(tile_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;NO_EXCEPTIONS" "" "SOURCES;LINK;DEPENDS;LABELS")
  if(NOT BUILD_TESTING)
    return()
  endif()
  find_package(GTest REQUIRED)
  list(APPEND arg_LINK GTest::gtest_main)
  add_executable(${name} ${arg_SOURCES})
  tile_finish_target(${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1
    --gtest_output=json:${PROJECT_BINARY_DIR}/test-results/${name}.json)
  # The seed makes rapidcheck draw the same cases in every run.
  set_tests_properties(${name} PROPERTIES
    LABELS "unit;${arg_LABELS}" TIMEOUT 600 ENVIRONMENT RC_PARAMS=seed=22)
endfunction()

function(tile_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
