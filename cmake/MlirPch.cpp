// The one source of the targets that build the precompiled headers; CMake needs a source to attach a header to.
