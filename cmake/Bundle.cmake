# tilec-bundle: one program that holds tilec, the examples and the tests that run kernels, and needs no LLVM where it runs:
# for machines with a GPU and its driver, and nothing else. `tools/dev bundle` builds it, no other build does.
#
# Its libraries are listed here by hand: the other programs link the dylibs of LLVM and MLIR, and one process must not
# hold two LLVMs. libc stays dynamic, since the driver is found by dlopen.
set(bundleTests ExecutionTest PreciseMathTest ConformanceTest ConformanceDotTest OpsTest
  AttentionOpsTest AutogradTest NnTest)
foreach(target tilec gpu_bench HardwareTest ${bundleTests})
  if(NOT TARGET ${target} OR TILE_SANITIZE)
    return()
  endif()
endforeach()
file(GLOB llvmArchives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
if(NOT llvmArchives)
  message(STATUS "LLVM and MLIR have no static libraries here: there is no tilec-bundle")
  return()
endif()

# A source with a main(), compiled with that under another name; `programs` is a table for tools/bundle.
set(programs "")
function(tile_bundle_main kind name source)
  string(MAKE_C_IDENTIFIER "main_${name}" main)
  add_library(bundle_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_compile_definitions(bundle_${name} PRIVATE main=${main})
  target_link_libraries(bundle_${name} PRIVATE tile_options CLI11::CLI11 nlohmann_json::nlohmann_json)
  set(bundleObjects ${bundleObjects} $<TARGET_OBJECTS:bundle_${name}> PARENT_SCOPE)
  set(programs "${programs}${kind}(\"${name}\", ${main})\n" PARENT_SCOPE)
endfunction()

find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
set(bundleObjects "$<FILTER:$<TARGET_OBJECTS:tilec>,EXCLUDE,/tilec[.]cpp[.]o$>")
tile_bundle_main(PROGRAM tilec ${PROJECT_SOURCE_DIR}/tools/tilec.cpp)
foreach(folder examples examples/tutorial)
  get_property(exampleTargets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(example IN LISTS exampleTargets)
    if(example MATCHES "^lesson_8_") # is compiled ahead of time, for a program of its own
      continue()
    endif()
    tile_bundle_main(EXAMPLE ${example} ${PROJECT_SOURCE_DIR}/${folder}/${example}.cpp)
  endforeach()
endforeach()
foreach(program digits text)
  tile_bundle_main(PROGRAM ${program} ${PROJECT_SOURCE_DIR}/examples/training/${program}.cpp)
  # The bundle leaves the tree: data is looked for where it is run.
  target_compile_definitions(bundle_${program} PRIVATE TILE_EXAMPLES_DATA="examples/data")
endforeach()
# Ops beside libraries: the driver in Python is embedded, the model's lower bounds are tilec's.
tile_bundle_main(PROGRAM gpu-bench ${PROJECT_SOURCE_DIR}/bench/gpu/gpu_bench.cpp)
list(APPEND bundleObjects "$<FILTER:$<TARGET_OBJECTS:gpu_bench>,EXCLUDE,/(gpu_bench|LowerBounds)[.]cpp[.]o$>")
# Probes of hardware: the recording is looked for where it is run, and where it is not there, nothing is compared.
tile_bundle_main(PROGRAM probes ${PROJECT_SOURCE_DIR}/tests/hardware/HardwareTest.cpp)
target_compile_definitions(bundle_probes PRIVATE TILE_HARDWARE_DATA="tests/hardware" TILE_HARDWARE_OPTIONAL)
list(APPEND bundleObjects "$<FILTER:$<TARGET_OBJECTS:HardwareTest>,EXCLUDE,/HardwareTest[.]cpp[.]o$>")
file(CONFIGURE OUTPUT bundle/programs.inc CONTENT "${programs}")

# The gate by ptxas has a stand-in in tools/bundle.
list(APPEND bundleObjects "$<FILTER:$<TARGET_OBJECTS:execution_support>,EXCLUDE,/Assembly[.]cpp[.]o$>")
foreach(target IN LISTS bundleTests)
  list(APPEND bundleObjects $<TARGET_OBJECTS:${target}>)
endforeach()
foreach(library IN LISTS tileLibraries)
  list(APPEND bundleObjects $<TARGET_OBJECTS:${library}>)
endforeach()

find_package(GTest REQUIRED)
add_executable(tilec-bundle EXCLUDE_FROM_ALL
  tools/bundle/Bundle.cpp tools/bundle/Check.cpp tools/bundle/NoAssembly.cpp ${bundleObjects})
target_link_libraries(tilec-bundle PRIVATE
  tile_options GTest::gtest
  -Wl,--start-group ${llvmArchives} -Wl,--end-group
  -Wl,-Bstatic sqlite3 z zstd -Wl,-Bdynamic ${CMAKE_DL_LIBS} m)
target_link_options(tilec-bundle PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -s)
