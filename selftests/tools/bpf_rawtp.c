// SPDX-License-Identifier: GPL-2.0
/*
 * Counts how often a raw tracepoint is hit while a command runs: the view of a BPF program of type
 * RAW_TRACEPOINT. Older versions of bpftrace have no rawtracepoint probes, and this needs no
 * compiler in the VM.
 *
 *   bpf_rawtp TRACEPOINT COMMAND...	prints "hits N arg ARG", where ARG is the
 *					tracepoint's second argument, at last
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static char log_buf[8192];

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int fail(const char *what)
{
	fprintf(stderr, "bpf_rawtp: %s: %s\n%s", what, strerror(errno), log_buf);
	return 1;
}

/* Two 64-bit numbers: hits, argument. */
static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 16,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int load(int map)
{
	const struct bpf_insn prog[] = {
		/* r6 = ctx->args[1] */
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, 8, 0),
		/* r0 = the map's element 0 */
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3, 0),
		/* count it, keep the argument */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 0, 6, 8, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insn_cnt = sizeof(prog) / sizeof(prog[0]),
		.insns = (uintptr_t)prog,
		.license = (uintptr_t)"GPL",
		.log_level = 1,
		.log_buf = (uintptr_t)log_buf,
		.log_size = sizeof(log_buf),
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static int attach(const char *name, int prog)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (uintptr_t)name,
		.raw_tracepoint.prog_fd = prog,
	};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int read_map(int map, uint64_t value[2])
{
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};

	return bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t value[2];
	int map, prog;

	if (argc < 3) {
		fprintf(stderr, "usage: bpf_rawtp TRACEPOINT COMMAND...\n");
		return 2;
	}
	setrlimit(RLIMIT_MEMLOCK, &all);
	map = make_map();
	if (map < 0)
		return fail("cannot create a map");
	prog = load(map);
	if (prog < 0)
		return fail("cannot load the program");
	if (attach(argv[1], prog) < 0)
		return fail("cannot attach it");
	if (run(argv + 2))
		return fail("the command failed");
	if (read_map(map, value))
		return fail("cannot read the map");
	printf("hits %llu arg %llu\n", (unsigned long long)value[0],
	       (unsigned long long)value[1]);
	return 0;
}
