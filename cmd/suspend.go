package cmd

// hold keeps a stop by Ctrl-Z away until release: a process that sleeps with a lock in
// its hands holds all other writers up. It is the engine's Options.Hold.
func (e *Env) hold() (release func()) {
	e.awake.RLock()
	return e.awake.RUnlock
}
