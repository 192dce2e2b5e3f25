# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Completion of jf-trace for bash. The tool itself says which processes there are, and which probes they have.
# shellcheck shell=bash

_jf_trace_pids()
{
	jf-trace list 2>/dev/null | cut -d ' ' -f 1
}

# Of lines of list: names without types and parameters, as patterns have them.
_jf_trace_names()
{
	awk '{ sub(/^[^ ]+ +[^ ]+ +/, ""); sub(/  .*/, ""); if (/operator|[<{]|^[^(]*:\(/) next; sub(/\(.*/, ""); if (!/ /) print }'
}

# Probes of a process, or of a file.
_jf_trace_probes()
{
	jf-trace list "$1" 2>/dev/null | _jf_trace_names
}

_jf_trace()
{
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options='' i pid=''

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'run list record enable disable stop stats snapshot report script top count time recover --help --version' -- "$cur")
		return
	fi
	case $before in
	-p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(_jf_trace_pids)" -- "$cur"); return ;;
	--mode) mapfile -t COMPREPLY < <(compgen -W 'overwrite discard keep' -- "$cur"); return ;;
	--clock) mapfile -t COMPREPLY < <(compgen -W 'auto tsc monotonic none' -- "$cur"); return ;;
	-o | --output) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	-i | --interval | -n | --times | --packets | --packet-size | --max-size | --min | --if | --caller | --every | --max | --tid | --max-depth) return ;;
	esac
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} =~ ^[0-9]+$ ]] && pid=${COMP_WORDS[i]}
	done
	case $command in
	run) options='-e -o --mode --clock --packets --packet-size --max-size --min --if --caller --tid --max-depth --every --max --no-report --registers --mangled --help' ;;
	count) options='-e -o -p --if --caller --tid --mangled --help' ;;
	time) options='-e -o -p -i --if --caller --tid --max-depth --csv --json --mangled --help' ;;
	list) options='-e -p --mangled --help' ;;
	enable) options='-e -p --min --if --caller --tid --max-depth --every --max --help' ;;
	disable) options='-e -p --help' ;;
	record) options='-e -o -p --mode --clock --packets --packet-size --max-size --min --if --caller --tid --max-depth --every --max --help' ;;
	report) options='--events --json --summary --graph --folded --mangled -p --help' ;;
	script) options='--json --mangled -p --help' ;;
	top) options='-e -i -n -p --mangled --help' ;;
	snapshot) options='-o -p --help' ;;
	recover) options='-o --help' ;;
	stop | stats) options='-p --help' ;;
	*) options=--help ;;
	esac
	case $cur in
	-*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur"); return ;;
	esac
	case $command in
	enable | disable | record)
		if [ -n "$pid" ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_jf_trace_probes "$pid")" -- "$cur")
			# What stands before a colon is a word of its own to readline.
			type __ltrim_colon_completions >/dev/null 2>&1 && __ltrim_colon_completions "$cur"
			return
		fi
		mapfile -t COMPREPLY < <(compgen -W "$(_jf_trace_pids)" -- "$cur") ;;
	stop | stats) mapfile -t COMPREPLY < <(compgen -W "$(_jf_trace_pids)" -- "$cur") ;;
	list | top | report | script | snapshot) mapfile -t COMPREPLY < <(compgen -W "$(_jf_trace_pids)" -- "$cur"; compgen -f -- "$cur") ;;
	run | count | time) mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}

complete -o filenames -F _jf_trace jf-trace
