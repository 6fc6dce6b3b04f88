// Package show prints the records of partitions: a bounded range of one as fast as
// memory allows, of several in timestamp order, or what arrives, in that order.
//
// Printer holds what all three have in common. Copy prints a bounded Reader, two
// goroutines at work, each with the whole way from the file to the text; Merge prints
// several; Follow goes on for as long as it is let.
package show
