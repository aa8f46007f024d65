# tile_add_kernels: kernels compiled ahead of time as a library that programs link; docs/aot.md.
#
#   tile_add_kernels(<name> <FILE.cpp|op:NAME>
#     [FUNCTIONS <"[NAME =] KERNEL SETTING..."> ...]   each a function; without it the input's one kernel, or all of them
#     [SETTINGS <NAME=VALUE> ...]                      of the one function, where there are no FUNCTIONS
#     [ARCHS <sm_80|sm_86|sm_89|sm_90a> ...]           default: sm_80 sm_90a
#     [OPTIONS <option> ...]                           of `tilec aot`, as --example-only
#     [DEPENDS <file> ...])                            what the file includes, if a change of that counts
#
# The target <name> is a static library; its header is <name>.h, its functions are in namespace <name>. It links tile::rt.
function(tile_add_kernels name input)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FUNCTIONS;SETTINGS;ARCHS;OPTIONS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_add_kernels(${name}): arguments not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_ARCHS)
    set(arg_ARCHS sm_80 sm_90a)
  endif()
  if(NOT input MATCHES "^op:")
    cmake_path(ABSOLUTE_PATH input BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND arg_DEPENDS ${input})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(words --name ${name} -o ${folder})
  foreach(arch IN LISTS arg_ARCHS)
    list(APPEND words --arch ${arch})
  endforeach()
  foreach(function IN LISTS arg_FUNCTIONS)
    list(APPEND words --function ${function})
  endforeach()
  add_custom_command(
    OUTPUT ${folder}/${name}.c ${folder}/${name}.h ${folder}/${name}.tilekernels
    COMMAND tile::tilec aot ${words} ${arg_OPTIONS} -- ${input} ${arg_SETTINGS}
    DEPENDS ${arg_DEPENDS} tile::tilec tile::tile # the compiler is in the library, which tilec finds when it starts
    COMMENT "Compiling the kernels of ${name} ahead of time"
    VERBATIM)
  add_library(${name} STATIC ${folder}/${name}.c ${folder}/${name}.h)
  target_include_directories(${name} PUBLIC ${folder})
  target_link_libraries(${name} PUBLIC tile::rt)
  # The bytes are C and C++ alike; a project may have only one of the languages.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT C IN_LIST languages)
    set_source_files_properties(${folder}/${name}.c PROPERTIES LANGUAGE CXX)
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
