package cmd

// planned reports whether name is a command or flag that klog is to have and that is not
// in this version: a user who has read of it need not look for a mistake of his own.
func planned(name string) bool {
	switch name {
	case "topic trim", "verify --repair", "--profile", "--local":
		return true
	case "consume", "work", "redrive", "wait", "group", "retention", "compact", "stats", "metrics", "check", "top",
		"serve", "mirror", "forward", "cluster", "replicate", "export", "import", "diff":
		return true
	}
	return false
}

func notInThisVersion(name string) error {
	return &usageError{msg: name + ": not in this version", hint: "klog help lists what there is"}
}
