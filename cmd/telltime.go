package cmd

import (
	"time"

	"github.com/klog-project/klog/cmd/value"
)

// tellTime says with -v which moment a time on the command line means: a zone, or a
// clock that was set back, is easily forgotten.
func (e *Env) tellTime(flag string, t time.Time) {
	if e.IsVerbose() {
		e.Verbose(flag + " is " + t.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
}

// tellTimes says it of all times that bound what is read.
func (o *readOptions) tellTimes(e *Env) {
	if o.since != nil {
		e.tellTime("--since", *o.since)
	}
	if o.until != nil {
		e.tellTime("--until", *o.until)
	}
	if p := o.position.Start; p.Place == value.AtTime {
		e.tellTime("the start of --offset", p.Time)
	}
	if p := o.position.End; p.Place == value.AtTime {
		e.tellTime("the end of --offset", p.Time)
	}
}
