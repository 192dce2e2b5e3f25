// SPDX-License-Identifier: GPL-2.0
/* With records of another size. */
#include "badtab.h"

TABLE(GOOD_HEAD, .rec_size = JF_TABLE_REC_SIZE + 8);
