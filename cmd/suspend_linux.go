package cmd

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// suspendInOrder lets Ctrl-Z take effect outside of hold only. A command that appends
// calls it before it waits; it costs a thread.
func (e *Env) suspendInOrder() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTSTP)
	go func() {
		for range asked {
			e.awake.Lock()
			stopByDefault(syscall.SIGTSTP)
			e.awake.Unlock()
		}
	}()
}

// stopByDefault does what the signal does in a program that knows nothing of it, and
// returns when the process goes on. Sending SIGSTOP would not be the same: SIGTSTP does
// not stop a process that no shell could wake again. Package signal has no way for this:
// once it has been asked for the signal, its handler stays.
func stopByDefault(sig syscall.Signal) {
	var handler, byDefault [8]uint64 // more than the kernel's struct sigaction has
	if sigaction(sig, nil, &handler) != 0 || sigaction(sig, &byDefault, nil) != 0 {
		return
	}
	// Sent to this thread, it has taken its effect when the call returns.
	runtime.LockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
	runtime.UnlockOSThread()
	sigaction(sig, &handler, nil)
}

func sigaction(sig syscall.Signal, set, old *[8]uint64) syscall.Errno {
	const maskSize = 8
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), maskSize, 0, 0)
	return errno
}
