//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package vfs

import (
	"errors"
	"time"
)

// BootID is not known here.
func BootID() (string, error) { return "", errors.ErrUnsupported }

// BootTime is not known here.
func BootTime() (time.Time, error) { return time.Time{}, errors.ErrUnsupported }
