# bash completion for klog. It asks klog itself, which knows its commands and flags, the
# topics of the root and the names of configs.

_klog() {
    local IFS=$' \t\n' i word line rule='' cut=''
    local -a words
    words=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # Readline takes --flag=value for three words.
        if [[ ${#words[@]} -gt 0 ]] && [[ $word == = || ${words[${#words[@]}-1]} == *= ]]; then
            words[${#words[@]}-1]+=$word
        else
            words[${#words[@]}]=$word
        fi
    done
    word=${words[${#words[@]}-1]}
    if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
        cut=${word%=*}=
    fi

    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -n $rule ]]; then
            COMPREPLY[${#COMPREPLY[@]}]=${rule#"$cut"}
        fi
        rule=${line%%$'\t'*}
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete -- "${words[@]}" 2>/dev/null)

    word=${word#"$cut"}
    case $rule in
    :nospace)
        compopt -o nospace 2>/dev/null
        ;;
    :files | :dirs)
        compopt -o filenames 2>/dev/null
        local kind=-f
        [[ $rule == :dirs ]] && kind=-d
        while IFS= read -r line; do
            COMPREPLY[${#COMPREPLY[@]}]=$line
        done < <(compgen $kind -- "$word")
        ;;
    esac
}

complete -F _klog klog
