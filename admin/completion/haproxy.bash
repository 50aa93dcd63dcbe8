# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for haproxy; made by scripts/make-completion: do not edit
_haproxy()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	case $before in
	-f|-p|-x|-S|--ask|--)
		COMPREPLY=($(compgen -f -- "$word"))
		return ;;
	-C)
		COMPREPLY=($(compgen -d -- "$word"))
		return ;;
	-L|-m|-n|-N|-cc)
		return ;;
	-sf|-st)
		COMPREPLY=($(compgen -W "$(pgrep -x haproxy)" -- "$word"))
		return ;;
	esac
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "-v -vv -h -f -d -db -dM -V -q -D -C -c -cc -n -N -m -L -p -dC -dD -dW -de -dp -dF -dZ -dS -dG -dR -dI -dK -dL -dr -dV -W -Ws -S --ask -x -sf -st" -- "$word"))
	else
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}
complete -o filenames -F _haproxy haproxy
