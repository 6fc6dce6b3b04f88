//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// BootID is an identifier of this boot of the kernel, another after each reboot.
func BootID() (string, error) {
	if id, err := unix.Sysctl("kern.bootsessionuuid"); err == nil {
		return id, nil
	}
	t, err := BootTime()
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(t.Unix(), 10), nil
}

// BootTime is when the kernel says it was booted. It moves with the wall clock when
// that is set.
func BootTime() (time.Time, error) {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(tv.Unix()), nil
}
