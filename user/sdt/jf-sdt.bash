# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Completion of jf-sdt for bash.
# shellcheck shell=bash

_jf_sdt()
{
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	case $before in
	-p | --prefix | -P | --provider) return ;;
	-r | --run) mapfile -t COMPREPLY < <(compgen -c -- "$cur"); return ;;
	esac
	if [[ $cur = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--list --verify --undo --run --prefix --provider --help --version' -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -X '!*.o' -- "$cur"; compgen -d -- "$cur")
	fi
}

complete -o filenames -F _jf_sdt jf-sdt
