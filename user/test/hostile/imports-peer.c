// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Two libraries of a program that are not linked with each other; one imports the other's exports.
 * In its constructor it has the values that are defined there, whichever of the two came first, and
 * can change them if that was the other one. Afterwards it can.
 */
#include "hostile.h"
#include "imports-peer.h"

int main(void)
{
	int later = early_set == -ENODEV;

	alarm(10);
	MUST(early_on == 1 && early_op == 2, "in the constructor: %d %d", early_on, early_op);
	/* run.sh links the same program in either order. */
	MUST(later == EXPORTER_COMES_LATER, "to change it then was %d", early_set);
	MUST(importer_on() == later && importer_op(1) == 2, "%d", importer_on());
	MUST(!importer_set(0) && !importer_on(), "off");
	MUST(!importer_set(1) && importer_on(), "on");
	return 0;
}
