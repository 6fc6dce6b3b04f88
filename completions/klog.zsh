#compdef klog
# zsh completion for klog. It asks klog itself, which knows its commands and flags, the
# topics of the root and the names of configs.

_klog() {
    local line rule=:
    local -a lines candidates
    lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    rule=${lines[-1]}
    lines[-1]=()
    for line in "${lines[@]}"; do
        # name:description, a colon in a name escaped
        candidates+=("${${line%%$'\t'*}//:/\\:}:${${line#*$'\t'}:#$line}")
    done
    case $rule in
    :nospace)
        (( $#candidates )) && _describe klog candidates -S ''
        ;;
    :files | :dirs)
        (( $#candidates )) && _describe klog candidates
        if [[ $rule == :dirs ]]; then
            _files -/
        else
            _files
        fi
        ;;
    *)
        (( $#candidates )) && _describe klog candidates
        ;;
    esac
}

# Read from a directory of fpath this file is the function's body; else it is sourced.
if [[ ${funcstack[1]} == _klog ]]; then
    _klog "$@"
else
    compdef _klog klog
fi
