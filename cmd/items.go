package cmd

// items counts what became of several things that one command was asked to do. Each
// failure is told when it happens; the exit status tells whether all, some or none
// failed.
type items struct {
	e      *Env
	ok     int
	failed int
	first  int // exit status of the first failure
}

// done takes the outcome of one of them. err should name which.
func (i *items) done(err error) {
	if err == nil {
		i.ok++
		return
	}
	code := i.e.report(err)
	if i.failed == 0 {
		i.first = code
	}
	i.failed++
}

// err is nil when all went well, status 8 when some failed, and the status of the first
// failure when all did. Its messages have been printed.
func (i *items) err() error {
	switch {
	case i.failed == 0:
		return nil
	case i.ok > 0:
		return status(ExitPartial)
	}
	return status(i.first)
}
