package vfs_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// asUser runs f as another user, on a thread of its own that ends with it. It skips
// the test where that takes more rights than the tester has.
func asUser(t *testing.T, uid int, gids []int, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	done := make(chan syscall.Errno)
	go func() {
		// Never unlocked: the thread, with its user, dies with the goroutine.
		runtime.LockOSThread()
		errno := becomeUser(uid, gids)
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Fatalf("cannot become user %d: %v", uid, errno)
	}
}

// becomeUser changes this thread alone; package syscall would change all of them.
func becomeUser(uid int, gids []int) syscall.Errno {
	list := make([]uint32, len(gids))
	for i, g := range gids {
		list[i] = uint32(g)
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_SETGROUPS, uintptr(len(list)), uintptr(unsafe.Pointer(&list[0])), 0)
	if e == 0 {
		_, _, e = syscall.RawSyscall(syscall.SYS_SETRESGID, uintptr(gids[0]), uintptr(gids[0]), uintptr(gids[0]))
	}
	if e == 0 {
		_, _, e = syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
	}
	return e
}
