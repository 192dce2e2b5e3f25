// SPDX-License-Identifier: GPL-2.0
/* Its end comes before its beginning. */
#include "badtab.h"

TABLE(GOOD_HEAD, .ents = __jf_tu_ents_end, .ents_end = __jf_tu_ents);
