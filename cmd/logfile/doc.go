// Package logfile reads a file that a program goes on writing to and that is rotated:
// renamed and made anew, or copied and truncated. It tells where it stands in a form
// that finds the same place again later, also in a file that has been renamed since.
//
// # Which file is it?
//
// A path says little: tomorrow another file stands there. An inode says more, but
// inodes are used again at once. So a Place is device, inode and position, with a hash
// of the first bytes of the file, up to 1 KiB and not beyond the position, and one of
// the 64 bytes before the position. Where one of them differs it is another file, or
// one that was truncated and written anew.
//
// # How a file ends
//
//	renamed     another file stands at the path. What was added to the old one is read
//	            first: it counts as finished once the new one has content and nothing
//	            has been added to the old one for a moment, since a writer goes on
//	            writing to what it has open until it is told
//	truncated   it is shorter than the position, or the 64 bytes before the position
//	            are not those that were read there. Reading begins anew
//	removed     nothing stands at the path: that may be a rotation half way. What is
//	            open is read on until another file appears
//
// A file that is removed while nobody has it open is lost, with what was not read of
// it; LostError says what is known of that.
package logfile
