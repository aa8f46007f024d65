// The one source of the targets that build a precompiled header; CMake needs a source to attach a header to.
