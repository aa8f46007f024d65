# cmake -DOUT=FILE -DSCRIPTS=a.py,b.py -P embed.cmake: a table of C++, {"a.py", "its text"}, a line each.
string(REPLACE "," ";" scripts "${SCRIPTS}")
set(table "")
foreach(script IN LISTS scripts)
  cmake_path(GET script FILENAME name)
  file(READ "${script}" text)
  string(APPEND table "{\"${name}\", R\"__py__(${text})__py__\"},\n")
endforeach()
file(WRITE "${OUT}" "${table}")
