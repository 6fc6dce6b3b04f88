package segments

import "io"

// ReadOffsetIndex calls each with all entries of the .index file f of size bytes, which
// belongs to the segment with the given base offset, as they stand there: neither
// checked nor sorted. spare is how many bytes behind them are preallocated and were
// never used. It is for looking into a file; LookupOffset is for finding something.
func ReadOffsetIndex(f io.ReaderAt, size, base int64, each func(OffsetEntry) error) (spare int64, err error) {
	return readEntries(f, size, OffsetEntrySize, func(b []byte) error { return each(parseOffsetEntry(b, base)) })
}

// ReadTimeIndex is ReadOffsetIndex for a .timeindex file.
func ReadTimeIndex(f io.ReaderAt, size, base int64, each func(TimeEntry) error) (spare int64, err error) {
	return readEntries(f, size, TimeEntrySize, func(b []byte) error { return each(parseTimeEntry(b, base)) })
}

// readEntries calls each with the whole entries of f. Zeros that reach to its end are
// spare, unless they are all there is and no more than one entry: that one may be of
// the first millisecond of 1970.
func readEntries(f io.ReaderAt, size, entry int64, each func(b []byte) error) (spare int64, err error) {
	size -= size % entry
	buf := make([]byte, min(size, 512*entry))
	blank := make([]byte, entry)
	var zeros int64 // entries of zeros that wait for what comes behind
	for at := int64(0); at < size; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-at)]
		if err := readFullAt(f, buf, at); err != nil {
			return 0, ignoreShort(err)
		}
		for b := buf; len(b) > 0; b = b[entry:] {
			if string(b[:entry]) == string(blank) && size > entry {
				zeros++
				continue
			}
			for ; zeros > 0; zeros-- {
				if err := each(blank); err != nil {
					return 0, err
				}
			}
			if err := each(b[:entry]); err != nil {
				return 0, err
			}
		}
	}
	return zeros * entry, nil
}
