//go:build !linux

package cmd

// suspendInOrder does nothing: Ctrl-Z stops the process wherever it is.
func (e *Env) suspendInOrder() {}
