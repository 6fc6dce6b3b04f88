package lines

// Reserved is how much memory the scanner's buffer has.
func (s *Scanner) Reserved() int { return len(s.buf.mem) }
