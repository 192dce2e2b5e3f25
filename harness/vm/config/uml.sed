# The registers of a CPU with AMX take more room than 6.12 sets aside: it would panic at init.
arch/x86/um/user-offsets.c s/HOST_FP_SIZE, 2696)/HOST_FP_SIZE, 12288)/
