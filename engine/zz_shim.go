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
