// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libFuzzer target for the decoder: whatever the bytes, a decoded instruction
 * must encode to the same bytes, and an unknown one must leave its target be.
 *
 * Input: eight bytes of address, eight of instruction word.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/x86/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t untouched = 0x5a5a5a5a5a5a5a5aULL;
	uint8_t bytes[JF_INSN_SIZE];
	uint64_t ip, target = untouched;
	jf_insn_t insn, again = 0;

	if (size < sizeof(ip) + sizeof(insn))
		return 0;
	memcpy(&ip, data, sizeof(ip));
	memcpy(&insn, data + sizeof(ip), sizeof(insn));

	switch (jf_insn_decode(insn, ip, &target)) {
	case JF_INSN_OTHER:
		must(target == untouched);
		return 0;
	case JF_INSN_CALL:
		must(!jf_insn_call(&again, ip, target) && again == insn);
		break;
	case JF_INSN_JMP:
		must(!jf_insn_jmp(&again, ip, target) && again == insn);
		break;
	case JF_INSN_NOP:
		must(target == ip + JF_INSN_SIZE);
		must(insn == jf_insn_nop() || insn == JF_INSN_NOP5_K8);
		break;
	case JF_INSN_RET0:
		must(target == ip + JF_INSN_SIZE);
		must(insn == jf_insn_ret0() || insn == JF_INSN_XOR5_OLD);
		break;
	}
	must(jf_insn_reaches(ip, target));
	jf_insn_store(bytes, insn);
	must(jf_insn_load(bytes) == insn);
	return 0;
}
