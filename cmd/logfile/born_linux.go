package logfile

import (
	"time"

	"golang.org/x/sys/unix"
)

// look says what is known of the file name; false where it has no time of birth.
func look(name string) (candidate, bool) {
	var st unix.Statx_t
	const want = unix.STATX_BASIC_STATS | unix.STATX_BTIME
	if err := unix.Statx(unix.AT_FDCWD, name, 0, want, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return candidate{}, false
	}
	at := func(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }
	return candidate{
		name: name, inode: st.Ino, device: unix.Mkdev(st.Dev_major, st.Dev_minor), size: int64(st.Size),
		born: at(st.Btime), changed: at(st.Mtime),
	}, true
}
