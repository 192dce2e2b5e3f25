# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Makes order.h: the 1024 sites in an order of its own, the same each time.
BEGIN {
	srand(20181)
	for (i = 0; i < 1024; i++)
		order[i] = i
	for (i = 1023; i > 0; i--) {
		other = int(rand() * (i + 1))
		x = order[i]
		order[i] = order[other]
		order[other] = x
	}
	printf "#define BENCH_ORDER(m)"
	for (i = 0; i < 1024; i++)
		printf "%s m(%x, %02x)", i % 8 ? "" : " \\\n\t", int(order[i] / 64), order[i] % 64
	print ""
}
