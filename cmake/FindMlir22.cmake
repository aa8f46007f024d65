# Finds LLVM and MLIR 22: the imported dylib targets LLVM and MLIR, and the TableGen functions.
#
# find_package(MLIR 22) is of no use, as the version file wants an exact match; the version is
# checked here.
find_program(TILE_LLVM_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin)
if(TILE_LLVM_CONFIG AND NOT MLIR_DIR)
  execute_process(COMMAND ${TILE_LLVM_CONFIG} --cmakedir
    OUTPUT_VARIABLE tileLlvmCmakeDir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET tileLlvmCmakeDir PARENT_PATH tileLlvmHint)
endif()
find_package(MLIR CONFIG QUIET HINTS ${tileLlvmHint})
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR 22 was not found (looked beside llvm-config-22: '${TILE_LLVM_CONFIG}'). "
    "Run `tools/dev setup`, or pass -DMLIR_DIR=<prefix>/lib/cmake/mlir.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tilec needs LLVM and MLIR 22; ${MLIR_DIR} belongs to LLVM ${LLVM_PACKAGE_VERSION}. "
    "Run `tools/dev setup`, or pass -DMLIR_DIR=<prefix of LLVM 22>/lib/cmake/mlir.")
endif()
message(STATUS "LLVM and MLIR ${LLVM_PACKAGE_VERSION} from ${LLVM_INSTALL_PREFIX}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
