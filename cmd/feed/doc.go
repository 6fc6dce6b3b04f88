// Package feed carries input into the partitions of a topic: it reads, cuts into
// records, encodes batches, appends them, and keeps count of what is safe.
//
// # The way of a chunk
//
// Two workers each do the whole job on chunks of their own. That is faster than a
// pipeline of stages, whose data would wander from one processor's cache to the
// other's.
//
//	baton   the worker that holds it reads the next chunk. It cuts behind the last whole
//	        record and leaves the rest for whoever reads next
//	encode  the worker alone: rows, partitions, batches, compression, checksums
//	turn    chunks are appended one after another as they were read: each partition
//	        has its records in the order of the input. Counting, printing and syncing
//	        happen in the turn too
//
// A worker that found little to read keeps the baton until its chunk is appended:
// handing over to a sleeping worker takes longer than appending one line. The second
// worker starts with the first full chunk. A chunk that holds one huge record keeps the
// baton too, so that there is never more than one in memory.
//
// # What is waited for
//
// A chunk is what is waiting in the input, up to a size; with Options.Linger what
// comes within that time too. A line that is typed is in the log before the next one is
// waited for. One timestamp serves all records of a chunk.
//
// # Counting
//
// Input records are numbered from 1 over all inputs. Within a chunk numbers are
// relative; they become absolute in the turn, when all that came before is known.
// After a failure nothing more is appended, so the records that are safe are, in each
// partition, exactly those that came first.
//
// # Following a file
//
// Follow is a run that never ends by itself, in one worker. It appends as an idempotent
// producer and stores beforehand what it is about to append; followState says how each
// line then is in the log once, wherever the process or the machine stops.
//
// # Files
//
//	source.go, descriptor.go, waiter.go, frame.go   reading, waiting and cutting
//	memory.go, turns.go                             buffers, baton and turns
//	row.go, encoder.go, sequences.go                records to batches
//	keyed.go, rows.go                               records for several partitions
//	oversize.go                                     records over the limit
//	stream.go                                       records that divide themselves
//	deliver.go, partitions.go                       the turn: append, count, print
//	durable.go                                      when to sync
//	pace.go                                         no faster than asked for
//	follow.go, followstate.go, resume.go            a growing file, each line once
package feed
