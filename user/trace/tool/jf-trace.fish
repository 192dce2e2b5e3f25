# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Completion of jf-trace for fish. The tool itself says which processes there are, and which probes they have.

function __jf_trace_pids
	jf-trace list 2>/dev/null | string replace ' ' \t
end

# Of lines of list: names without types and parameters, as patterns have them.
function __jf_trace_names
	awk '{ sub(/^[^ ]+ +[^ ]+ +/, ""); sub(/  .*/, ""); if (/operator|[<{]|^[^(]*:\(/) next; sub(/\(.*/, ""); if (!/ /) print }'
end

# The process that is named already. Other numbers are values of options.
function __jf_trace_pid
	set -l before ''
	set -l pid
	for word in (commandline -opc)[3..]
		set -l found (string match -rg '^(?:-p|--pid|--pid=)?([0-9]+)$' -- $before$word)
		and set pid $found
		set before (string match -r '^-[^=]*$' -- $word)
		string match -qr '^--(mangled|no-report|registers|csv|json)$' -- $word
		and set before ''
	end
	test -n "$pid"
	and echo $pid
end

function __jf_trace_probes
	set -l pid (__jf_trace_pid)
	and jf-trace list $pid 2>/dev/null | __jf_trace_names
end

complete -c jf-trace -f
complete -c jf-trace -l help
complete -c jf-trace -n __fish_use_subcommand -l version
complete -c jf-trace -n __fish_use_subcommand -a run -d 'start a program, record its events, show them'
complete -c jf-trace -n __fish_use_subcommand -a list -d 'events, notes and functions; processes'
complete -c jf-trace -n __fish_use_subcommand -a record -d 'let a process begin to record'
complete -c jf-trace -n __fish_use_subcommand -a enable -d 'record these events, too'
complete -c jf-trace -n __fish_use_subcommand -a disable -d 'record them no longer'
complete -c jf-trace -n __fish_use_subcommand -a stop -d 'end the recording'
complete -c jf-trace -n __fish_use_subcommand -a stats -d 'how many events were recorded, and lost'
complete -c jf-trace -n __fish_use_subcommand -a snapshot -d 'copy what is recorded now'
complete -c jf-trace -n __fish_use_subcommand -a report -d 'how many events there are'
complete -c jf-trace -n __fish_use_subcommand -a script -d 'show events'
complete -c jf-trace -n __fish_use_subcommand -a top -d 'events a second'
complete -c jf-trace -n __fish_use_subcommand -a count -d 'exact numbers of calls'
complete -c jf-trace -n __fish_use_subcommand -a time -d 'functions, and how long their calls take'
complete -c jf-trace -n __fish_use_subcommand -a recover -d 'copy what is whole of a trace'

set -l of_pid '__fish_seen_subcommand_from list record enable disable stop stats snapshot report script top count time'
complete -c jf-trace -n $of_pid -s p -l pid -x -a '(__jf_trace_pids)' -d process
complete -c jf-trace -n '__fish_seen_subcommand_from run list record enable disable top count time' -s e -l event -x -a '(__jf_trace_probes)' -d probes
complete -c jf-trace -n '__fish_seen_subcommand_from run record snapshot recover count time' -s o -l output -r -F -d 'where to'
complete -c jf-trace -n '__fish_seen_subcommand_from run record' -l mode -x -a 'overwrite discard keep' -d 'if a ring is full'
complete -c jf-trace -n '__fish_seen_subcommand_from run record' -l clock -x -a 'auto tsc monotonic none' -d 'of time stamps'
complete -c jf-trace -n '__fish_seen_subcommand_from run record' -l packets -x -d 'of a ring'
complete -c jf-trace -n '__fish_seen_subcommand_from run record' -l packet-size -x -d bytes
complete -c jf-trace -n '__fish_seen_subcommand_from run record' -l max-size -x -d 'MiB, of mode keep'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable' -l min -x -d 'shorter calls are not recorded'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable count time' -l if -x -d 'records for which it holds'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable count time' -l caller -x -d 'calls from functions'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable count time' -l tid -x -d 'of one thread'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable time' -l max-depth -x -d 'calls in less than so many'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable' -l every -x -d 'one of so many'
complete -c jf-trace -n '__fish_seen_subcommand_from run record enable' -l max -x -d 'no more of each probe'
complete -c jf-trace -n '__fish_seen_subcommand_from run' -l no-report -d 'keep the trace'
complete -c jf-trace -n '__fish_seen_subcommand_from run' -l registers -d 'arguments as registers'
complete -c jf-trace -n '__fish_seen_subcommand_from run list report script top count time' -l mangled -d 'names of symbols'
complete -c jf-trace -n '__fish_seen_subcommand_from report' -l events -d 'each event'
complete -c jf-trace -n '__fish_seen_subcommand_from report' -l summary -d 'times of calls, by function'
complete -c jf-trace -n '__fish_seen_subcommand_from report' -l graph -d 'times of calls, as a tree'
complete -c jf-trace -n '__fish_seen_subcommand_from report' -l folded -d 'times of calls, as stacks'
complete -c jf-trace -n '__fish_seen_subcommand_from time' -l csv -d numbers
complete -c jf-trace -n '__fish_seen_subcommand_from report script time' -l json -d 'for Perfetto'
complete -c jf-trace -n '__fish_seen_subcommand_from top time' -s i -l interval -x -d seconds
complete -c jf-trace -n '__fish_seen_subcommand_from top' -s n -l times -x -d 'how often'
complete -c jf-trace -n '__fish_seen_subcommand_from list record enable disable stop stats snapshot report script top; and not __jf_trace_pid >/dev/null' -a '(__jf_trace_pids)'
complete -c jf-trace -n '__fish_seen_subcommand_from record enable disable; and __jf_trace_pid >/dev/null' -a '(__jf_trace_probes)'
complete -c jf-trace -n '__fish_seen_subcommand_from list' -F
complete -c jf-trace -n '__fish_seen_subcommand_from snapshot report script top recover' -a '(__fish_complete_directories)'
complete -c jf-trace -n '__fish_seen_subcommand_from run count' -a '(__fish_complete_subcommand)'
