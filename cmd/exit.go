package cmd

import (
	"context"
	"errors"
	"syscall"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// Exit statuses. They are a contract with scripts and never change their meaning.
const (
	ExitOK         = 0   // everything that was asked for is done
	ExitFailure    = 1   // failed; the message says what
	ExitUsage      = 2   // the command line is wrong, or --yes is missing
	ExitNotFound   = 3   // no such topic, partition, group or root; offset out of range
	ExitDamaged    = 4   // damaged data met or found
	ExitBusy       = 5   // a lock was not obtained in time
	ExitNotLeader  = 6   // not the leader, fenced, or too few in-sync replicas
	ExitNoSpace    = 7   // no space where the log is
	ExitPartial    = 8   // some of several items failed or were skipped
	ExitHandler    = 9   // a handler of `work` failed for good
	ExitTimeout    = 124 // timed out waiting
	ExitSignalBase = 128 // plus the number of the signal that ended it
	exitBrokenPipe = ExitSignalBase + int(syscall.SIGPIPE)
)

// statusError gives an error the exit status that its type alone does not tell. A nil
// err is a status without a message: everything has been said already.
type statusError struct {
	code int
	err  error
}

func (s *statusError) Error() string {
	if s.err == nil {
		return "status only"
	}
	return s.err.Error()
}

func (s *statusError) Unwrap() error { return s.err }

// withStatus ends the command with the exit status code and the message of err.
func withStatus(code int, err error) error { return &statusError{code: code, err: err} }

// status ends the command with an exit status; its messages have been printed.
func status(code int) error {
	if code == ExitOK {
		return nil
	}
	return &statusError{code: code}
}

// hintError adds a line that helps: "klog: hint: …".
type hintError struct {
	err  error
	hint string
}

func (h *hintError) Error() string { return h.err.Error() }
func (h *hintError) Unwrap() error { return h.err }

// withHint adds a hint to err; an empty hint adds nothing.
func withHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hintError{err: err, hint: hint}
}

// exitCode is the exit status that err stands for. The order matters: what the command
// said itself comes first, then the kind of trouble, narrow before wide.
func exitCode(err error) int {
	var (
		st    *statusError
		usage *usageError
		wrong *value.Error
		out   *outputError
		stop  *signalError
		conf  *engine.ConfigError
		input *feed.RecordError
		lock  *engine.LockedError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &st):
		return st.code
	case errors.As(err, &stop):
		return ExitSignalBase + int(stop.signal)
	case errors.Is(err, errBrokenPipe):
		return exitBrokenPipe
	case errors.As(err, &out):
		return ExitFailure // also when what is full is the disk of the output
	case errors.As(err, &input) && errors.As(err, &wrong):
		return ExitFailure // not the user's words but the data's
	case errors.As(err, &usage), errors.As(err, &wrong):
		return ExitUsage
	case errors.As(err, &conf) && conf.File != "":
		return ExitFailure // not the user's words but a file's
	case errors.Is(err, engine.ErrInvalid):
		return ExitUsage
	case missing(err), errors.Is(err, segments.ErrGone), errors.Is(err, engine.ErrOffsetOutOfRange):
		return ExitNotFound
	case errors.Is(err, segments.ErrProducerFenced):
		return ExitNotLeader
	case errors.As(err, &lock), errors.Is(err, vfs.ErrLocked):
		return ExitBusy
	case errors.Is(err, segments.ErrCorrupt):
		return ExitDamaged
	case isNoSpace(err):
		return ExitNoSpace
	case errors.Is(err, context.DeadlineExceeded):
		return ExitTimeout
	}
	return ExitFailure
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
