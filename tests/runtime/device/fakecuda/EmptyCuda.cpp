// A library that starts like a driver and is none.
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) { return 0; }
