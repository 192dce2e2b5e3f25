# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Completion of jf-trace for bash. The tool itself says which processes there are, and which probes they have.
# shellcheck shell=bash disable=SC2001

_jf_trace_pids()
{
	jf-trace list 2>/dev/null | cut -d ' ' -f 1
}

# Of lines of list: names without types and parameters, as patterns have them.
_jf_trace_names()
{
	awk '{ sub(/^[^ ]+ +[^ ]+ +/, ""); sub(/  .*/, ""); if (/operator|[<{]|^[^(]*:\(/) next; sub(/\(.*/, ""); if (!/ /) print }'
}

# _jf_trace_probes OF CUR: those that begin with CUR. compgen -W would execute what they hold, and they are names of
# another program.
_jf_trace_probes()
{
	local name

	jf-trace list "$1" 2>/dev/null | _jf_trace_names | while IFS= read -r name; do
		[[ $name != "$2"* ]] || printf '%s\n' "$name"
	done
}

# _jf_trace_quoted QUOTE TEXT: as the line has to have it, after a quotation mark or after none.
_jf_trace_quoted()
{
	case $1 in
	\') printf '%s' "${2//\'/\'\\\'\'}" ;;
	\") sed 's/["\\$`]/\\&/g' <<< "$2" ;;
	*) printf %q "$2" ;;
	esac
}

# _jf_trace_pid WORD...: the process that they name, if they do. Other numbers are values of options.
_jf_trace_pid()
{
	local word before='' pid=''

	for word; do
		case $before$word in
		--pid=*) pid=${word#*=} ;;
		-p[0-9]* | --pid[0-9]*) pid=${word#-p} ;;
		[0-9]*) pid=$word ;;
		esac
		before=
		case $word in
		*=* | --mangled | --no-report | --registers | --csv | --json) ;;
		-*) before=$word ;;
		esac
	done
	[[ ! $pid =~ ^[0-9]+$ ]] || echo "$pid"
}

_jf_trace_options()
{
	case $1 in
	run) echo '--event --output --mode --clock --packets --packet-size --max-size --min --if --caller --tid --max-depth --every --max --no-report --registers --mangled --help' ;;
	count) echo '--event --output --pid --if --caller --tid --mangled --help' ;;
	time) echo '--event --output --pid --interval --if --caller --tid --max-depth --csv --json --mangled --help' ;;
	list) echo '--event --pid --mangled --help' ;;
	enable) echo '--event --pid --min --if --caller --tid --max-depth --every --max --help' ;;
	disable) echo '--event --pid --help' ;;
	record) echo '--event --output --pid --mode --clock --packets --packet-size --max-size --min --if --caller --tid --max-depth --every --max --help' ;;
	report) echo '--events --json --summary --graph --folded --mangled --pid --help' ;;
	script) echo '--json --mangled --pid --help' ;;
	top) echo '--event --interval --times --pid --mangled --help' ;;
	snapshot) echo '--output --pid --help' ;;
	recover) echo '--output --help' ;;
	stop | stats) echo '--pid --help' ;;
	*) echo --help ;;
	esac
}

# _jf_trace_values OPTION PID CUR: fails if it is none that takes a value
_jf_trace_values()
{
	case $1 in
	-p | --pid) compgen -W "$(_jf_trace_pids)" -- "$3" ;;
	-e | --event) [ -z "$2" ] || _jf_trace_probes "$2" "$3" ;;
	--mode) compgen -W 'overwrite discard keep' -- "$3" ;;
	--clock) compgen -W 'auto tsc monotonic none' -- "$3" ;;
	-o | --output) compgen -d -- "$3" ;;
	-i | --interval | -n | --times | --packets | --packet-size | --max-size | --min | --if | --caller | --every | --max | --tid | --max-depth) ;;
	*) return 1 ;;
	esac
	return 0
}

# _jf_trace_arguments COMMAND PID CUR
_jf_trace_arguments()
{
	case $1 in
	enable | disable | record)
		if [ -n "$2" ]; then _jf_trace_probes "$2" "$3"; else compgen -W "$(_jf_trace_pids)" -- "$3"; fi ;;
	stop | stats) compgen -W "$(_jf_trace_pids)" -- "$3" ;;
	list) compgen -W "$(_jf_trace_pids)" -- "$3"; compgen -f -- "$3" ;;
	top | report | script | snapshot) compgen -W "$(_jf_trace_pids)" -- "$3"; compgen -d -- "$3" ;;
	recover) compgen -d -- "$3" ;;
	run | count | time) compgen -c -- "$3"; compgen -f -- "$3" ;;
	esac
}

# _jf_trace NAME PART: readline replaces PART, which begins after the last colon or equals sign of a word. So the words
# here are those of the line.
_jf_trace()
{
	local line=${COMP_LINE:0:COMP_POINT} words cur quote before pid all i

	read -ra words <<< "$line"
	[[ $line != *[[:blank:]] ]] || words+=('')
	cur=${words[-1]} before=${words[-2]}
	quote=${cur%"${cur#[\'\"]}"}
	# The text that is meant by what was typed.
	cur=$(sed 's/\\\(.\)/\1/g' <<< "${cur#"$quote"}")
	[[ $cur != --*=* ]] || { before=${cur%%=*}; cur=${cur#*=}; }
	pid=$(_jf_trace_pid "${words[@]:2:${#words[@]} - 3}")
	if [ ${#words[@]} = 2 ]; then
		all='run list record enable disable stop stats snapshot report script top count time recover'
		[[ $cur != -* ]] || all='--help --version'
		all=$(compgen -W "$all" -- "$cur")
	elif all=$(_jf_trace_values "$before" "$pid" "$cur"); then :
	elif [[ $cur == -* ]]; then all=$(compgen -W "$(_jf_trace_options "${words[1]}")" -- "$cur")
	else all=$(_jf_trace_arguments "${words[1]}" "$pid" "$cur")
	fi
	mapfile -t COMPREPLY <<< "$all"
	[ -n "$all" ] || COMPREPLY=()
	case $before,${words[1]} in
	-e,* | --event,* | *,enable | *,disable | *,record)
		all=$(sed 's/\\\(.\)/\1/g' <<< "$2")
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=$(_jf_trace_quoted "$quote" "${COMPREPLY[i]#"${cur%"$all"}"}")
		done ;;
	*) compopt -o filenames 2>/dev/null ;;
	esac
}

complete -F _jf_trace jf-trace
