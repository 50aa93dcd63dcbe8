# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for haproxy; made by scripts/make-completion: do not edit
_haproxy()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	case $before in
	-f|-p|-x|-S|--ask|--lint|--format|--)
		COMPREPLY=($(compgen -f -- "$word"))
		return ;;
	-C)
		COMPREPLY=($(compgen -d -- "$word"))
		return ;;
	-L|-m|-n|-N|-cc|--explain|--header|--src|--frontend|--compat|--help-keyword)
		return ;;
	-sf|-st)
		COMPREPLY=($(compgen -W "$(pgrep -x haproxy)" -- "$word"))
		return ;;
	esac
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "-v -vv -vq -vqs -vqb -h -f -d -db -dM -V -q -D -C -c -cc -n -N -m -L -p -4 -dA -dc -dC -dD -dW -de -dp -dS -dF -dZ -dG -dR -dI -dK -dL -dr -dt -dT -dV -W -Ws -S --ask -x --compat --help-keyword --diagnostics --explain --header --src --frontend --lint --output --format --check --write --language-server -sf -st" -- "$word"))
	else
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}
complete -o filenames -F _haproxy haproxy
