# fish completion for klog. It asks klog itself, which knows its commands and flags, the
# topics of the root and the names of configs.

function __klog_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] "$typed" 2>/dev/null)
    test (count $lines) -gt 0; or return
    test (count $lines) -gt 1; and printf '%s\n' $lines[1..-2]
    switch $lines[-1]
        case :files
            __fish_complete_path "$typed"
        case :dirs
            __fish_complete_directories "$typed" ''
    end
end

complete -c klog -f -a '(__klog_complete)'
