/* Stands in for libdcgm.so.4, which the cores 2.65 and 2.71 are linked with and which no registry has. Every call fails, as NVIDIA's own
   library does on a host without a GPU; the server then says that DCGM is not there, and goes on. */
#define FAILS(name) int name(void) { return -1; }
FAILS(dcgmInit)
FAILS(dcgmShutdown)
FAILS(dcgmStartEmbedded)
FAILS(dcgmStopEmbedded)
FAILS(dcgmConnect)
FAILS(dcgmDisconnect)
FAILS(dcgmGetAllDevices)
FAILS(dcgmGetDeviceAttributes)
FAILS(dcgmGroupCreate)
FAILS(dcgmGroupDestroy)
FAILS(dcgmFieldGroupCreate)
FAILS(dcgmWatchFields)
FAILS(dcgmUpdateAllFields)
FAILS(dcgmGetLatestValuesForFields)
const char *errorString(int code) { return "there is no DCGM here"; }
