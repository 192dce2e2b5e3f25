// SPDX-License-Identifier: GPL-2.0
/* The same call as a site twice. */
#include "badtab.h"

asm(__JF_SECTION("__jf_sites", 1) ".balign 8\n\t"
    ".long bad_call - .\n\t.long 1\n\t.quad " KEY "\n\t"
    ".long bad_call - .\n\t.long 1\n\t.quad " KEY "\n\t.popsection\n\t"
    ".pushsection .text\n\t"
    ".type bad_call_func, @function\n"
    "bad_call_func:\n\t"
    "subq $8, %rsp\n"
    "bad_call:\n\t"
    __JF_NOENDBR
    ".byte 0xe8\n\t"
    ".long dynfunc_badtab_key - (. + 4)\n\t"
    "addq $8, %rsp\n\t"
    ASM_RET
    ".size bad_call_func, . - bad_call_func\n\t"
    ".popsection");
