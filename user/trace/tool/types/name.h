/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Lines of the names that are in the debug file of a stripped file alone. */
#ifndef JF_TYPES_NAME_H
#define JF_TYPES_NAME_H

#include "function.h"
#include "file.h"
#include "../links.h"

void put_names(const struct file *f, const struct reading *r, const struct links *links, const struct options *o, bool library);

#endif /* JF_TYPES_NAME_H */
