# The functions with which folders declare their targets, and the flags those get.
#
#   tile_add_library(<name> [MLIR] [PUBLIC_API] [NO_EXCEPTIONS] SOURCES ... [LINK ...] [DEPENDS ...])
#   tile_add_executable(<name> [MLIR] [PUBLIC_API] [COMMAND_LINE] SOURCES ... [LINK ...])
#   tile_add_gtest(<name> [MLIR] [OPTIMIZED] SOURCES ... [LINK ...] [LABELS ...])    one ctest for the program
#   tile_add_model_pass(<program> <models> [<filter>])   its tests of the virtual GPU once more, under models of that
#   tile_share_kernels(<test>...)                                        which find what others of them have compiled
#   tile_verify_groups(<test>...)                                        which verify IR after groups of passes, not after each
#   tile_add_test_support(<name> [MLIR] SOURCES ... [LINK ...])          what several such programs share
#   tile_optimize(<source>...)                                           of tests: what computes much
#   tile_optimize_launches(<source>...)                                  of libraries: what each launch runs
#   tile_add_folders(<folder>...)                                        each has a CMakeLists.txt
#
# MLIR: links the dylibs MLIR and LLVM and uses a precompiled header. PUBLIC_API: uses that of the public headers. NO_EXCEPTIONS: for ir, passes
# and codegen, which never throw. COMMAND_LINE: uses CLI11 and nlohmann_json. OPTIMIZED: for tests that
# compute much themselves. DEPENDS: TableGen targets whose headers the sources include; whoever links the
# library waits for them as well.

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
  if(TILE_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # The fuzzers of tests/fuzz/parsers look for inputs that reach new code.
    target_compile_options(tile_options INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

# The dylibs, for targets that name MLIR.
add_library(tile_mlir INTERFACE)
target_link_libraries(tile_mlir INTERFACE MLIR LLVM)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tile_mlir INTERFACE "SHELL:-include ${PROJECT_SOURCE_DIR}/ir/TraitIdsOfGcc.h")
endif()

# ctest reads it before any test, however it is called: LLVM's arenas mark their free parts in our code and hand them out in the
# library's, which is not instrumented.
if(TILE_SANITIZE MATCHES "address")
  file(WRITE ${PROJECT_BINARY_DIR}/AsanOptions.cmake
    "if(NOT DEFINED ENV{ASAN_OPTIONS})\n  set(ENV{ASAN_OPTIONS} allow_user_poisoning=0)\nendif()\n")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES ${PROJECT_BINARY_DIR}/AsanOptions.cmake)
endif()

# The precompiled headers, each built once by a target with nothing else in it. One of MLIR's serves sources with and
# without exceptions, since it would be refused where that flag differs: ir, passes and codegen are compiled with
# exceptions where they use it, and without in the preset gcc, which so finds what throws.
function(tile_add_pch_owner name header)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/Pch.cpp)
  target_link_libraries(${name} PRIVATE tile_options ${ARGN})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
  set_target_properties(${name} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  tile_add_pch_sum(${name} ${PROJECT_SOURCE_DIR}/cmake/${header})
endfunction()
if(TILE_PCH)
  tile_add_pch_owner(tile_pch_mlir MlirPch.h)
  tile_add_pch_owner(tile_pch_public PublicPch.h)
endif()

# Tests and tools: their time is in the libraries they call, and optimising a test costs three times its compilation.
add_library(tile_unoptimized INTERFACE)
target_compile_options(tile_unoptimized INTERFACE $<$<CONFIG:Dev>:-O0>)

# tile_<kind>_options: what tests, and programs with a command line, have in common.
function(tile_add_program_options kind header)
  add_library(tile_${kind}_options INTERFACE)
  target_link_libraries(tile_${kind}_options INTERFACE tile_unoptimized ${ARGN})
  if(TILE_PCH)
    tile_add_pch_owner(tile_pch_${kind} ${header} tile_${kind}_options)
  endif()
endfunction()
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
tile_add_program_options(tool ToolPch.h CLI11::CLI11 nlohmann_json::nlohmann_json)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  tile_add_program_options(test TestPch.h GTest::gtest)
endif()

function(tile_use_program_options name kind)
  target_link_libraries(${name} PRIVATE tile_${kind}_options)
  if(TILE_PCH)
    target_precompile_headers(${name} REUSE_FROM tile_pch_${kind})
  endif()
endfunction()

# What all kinds of target share. The caller has parsed its arguments into `arg_*`.
macro(tile_finish_target name)
  target_link_libraries(${name} PRIVATE tile_options)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_MLIR)
    target_link_libraries(${name} PUBLIC tile_mlir)
  endif()
  if(arg_MLIR AND TILE_PCH)
    target_precompile_headers(${name} REUSE_FROM tile_pch_mlir)
  elseif(arg_PUBLIC_API AND TILE_PCH)
    target_precompile_headers(${name} REUSE_FROM tile_pch_public)
  elseif(arg_NO_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: arguments not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(tile_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;PUBLIC_API;NO_EXCEPTIONS" "" "SOURCES;LINK;DEPENDS")
  add_library(${name} STATIC ${arg_SOURCES})
  tile_finish_target(${name})
  set_property(GLOBAL APPEND PROPERTY TILE_LIBRARIES ${name})
endfunction()

function(tile_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;PUBLIC_API;NO_EXCEPTIONS;COMMAND_LINE" "" "SOURCES;LINK;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  tile_finish_target(${name})
  if(arg_COMMAND_LINE)
    tile_use_program_options(${name} tool)
  endif()
endfunction()

# Sources that several programs of tests share, compiled once.
function(tile_add_test_support name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR" "" "SOURCES;LINK;DEPENDS")
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_library(${name} OBJECT ${arg_SOURCES})
  tile_finish_target(${name})
  if(NOT arg_MLIR)
    tile_use_program_options(${name} test)
  endif()
endfunction()

# For sources of the folder that every launch runs: their time is the user's in each build.
function(tile_optimize_launches)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Dev>:-O2> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# For sources of the folder that compute much, in programs that are not optimised otherwise.
function(tile_optimize)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# One ctest per program: starting a process that loads libMLIR costs more than most cases do.
# The JSON report beside it lets tools/dev count single cases and skips.
function(tile_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;OPTIMIZED" "" "SOURCES;LINK;DEPENDS;LABELS")
  if(NOT BUILD_TESTING)
    return()
  endif()
  list(APPEND arg_LINK GTest::gtest_main)
  add_executable(${name} ${arg_SOURCES})
  tile_finish_target(${name})
  if(NOT arg_MLIR AND NOT arg_OPTIMIZED)
    tile_use_program_options(${name} test)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1
    --gtest_output=json:${PROJECT_BINARY_DIR}/test-results/${name}.json)
  # The seed makes rapidcheck draw the same cases in every run.
  set_tests_properties(${name} PROPERTIES
    LABELS "unit;${arg_LABELS}" TIMEOUT 600 ENVIRONMENT "RC_PARAMS=seed=22;TILE_CACHE=off")
endfunction()

# What PTX leaves open goes another way: what is right stays right. As sm_80, unless a filter follows: most suites that run as
# sm_90a too have the same kernels there.
function(tile_add_model_pass program models)
  if(NOT BUILD_TESTING)
    return()
  endif()
  set(filter *virtual_sm_80*)
  if(ARGN)
    set(filter ${ARGN})
  endif()
  string(REPLACE "," "_" words ${models})
  set(name ${program}_model_${words})
  add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 --gtest_filter=${filter}
    --gtest_output=json:${PROJECT_BINARY_DIR}/test-results/${name}.json)
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 600 DEPENDS ${program}
    ENVIRONMENT "TILE_VGPU_CHECK=all;TILE_VGPU_MODEL=${models}")
  # They run the kernels that the program has compiled before.
  tile_share_kernels(${program} ${name})
endfunction()

# A kernel is found under all that its code follows from, the compiler's build among it.
function(tile_share_kernels)
  if(BUILD_TESTING)
    set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION
      TILE_CACHE=set:on TILE_CACHE_DIR=set:${PROJECT_BINARY_DIR}/test-kernels)
  endif()
endfunction()

# Programs that compile thousands of kernels verify them after groups of passes; others, as the fuzzer and the conformance list,
# and lit, after every pass.
function(tile_verify_groups)
  if(BUILD_TESTING)
    set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION TILE_VERIFY_GROUPS=set:1)
  endif()
endfunction()

function(tile_add_folders)
  foreach(folder IN LISTS ARGN)
    add_subdirectory(${folder})
  endforeach()
endfunction()
