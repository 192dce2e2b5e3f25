#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own; access.sh has each kernel's page tables as they should be
# JF_VM=-a rodata=off
# JF_ANY_BACKEND: what is text does not depend on it
# Where the kernel was told not to protect its memory, page tables call its data executable. Data is no
# target all the same.
#
# Seen to fail (6.1) before jumpfunc asked what they say of data: init_task was accepted.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "data that the page tables call text"
jf_x86 || jf_skip_all "page tables are asked on x86 alone"
jf_has jf_access || jf_skip_all "no jf_access.ko: build selftests/modules"
grep -qw rodata=off /proc/cmdline || jf_skip_all "this machine was not booted with rodata=off"

jf_log_mark
jf_load
check_match "the log says so" "$(jf_log_new)" "jumpfunc: page tables call the kernel's data executable"
check "a module to be changed" jf_insmod jf_access
jf_cases jf_access foreign
jf_cases jf_access one
check "it unloads" jf_rmmod jf_access
check "jumpfunc unloads" jf_unload
jf_done
