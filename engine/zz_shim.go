package engine

import "context"

type producerTable struct{ p *Partition }

func (t *producerTable) close()                                        {}
func (t *producerTable) snapshot(w *Writer, base int64) ([]byte, bool) { return nil, false }
func (t *producerTable) append(bs []placed, next int64)                {}
func (w *Writer) dropDuplicates(todo []placed) (Appended, []placed, error) {
	return Appended{}, todo, nil
}
func (w *Writer) findEndShared(ctx context.Context) error { panic(1) }

type kind int

const RecoveryPoint kind = 1

func (r *Root) Checkpoint(k kind, t string, p int32) (int64, bool, error) { return 0, false, nil }
func (r *Root) SetCheckpoint(ctx context.Context, k kind, t string, p int32, at int64) error {
	return nil
}
func (p *Partition) LogStart() (int64, error) { return 0, nil }
