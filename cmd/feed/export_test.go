package feed

import "github.com/klog-project/klog/segments/vfs"

// SaveStates stores states of rising size in the file name, and LoadState returns how
// far the newest whole one in it is: its number, 0 for none.
func SaveStates(fsys vfs.FS, name string, from, to int) (saved int, err error) {
	s, err := openFollowStore(fsys, name)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if _, _, err := s.load(); err != nil {
		return 0, err
	}
	for i := from; i <= to; i++ {
		st := followState{Path: "/a/log", Size: int64(i)}
		for p := range i * 20 {
			st.Sequences = append(st.Sequences, followedPart{Partition: int32(p)})
		}
		if err := s.save(&st, i%3 == 0); err != nil {
			return saved, err
		}
		saved = i
	}
	return saved, nil
}

// LoadState is what SaveStates describes.
func LoadState(fsys vfs.FS, name string) (int, error) {
	s, err := openFollowStore(fsys, name)
	if err != nil {
		return 0, err
	}
	defer s.close()
	st, _, err := s.load()
	return int(st.Size), err
}
