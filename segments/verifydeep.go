package segments

import (
	"errors"
	"fmt"
)

// deep decodes every record of a batch.
func (c *segmentCheck) deep(b Batch) error {
	what, err := c.v.contentFault(b)
	if what == "" || err != nil {
		return err
	}
	return c.find(Finding{
		File: c.path, Position: b.Position, Size: b.Size(),
		FirstOffset: b.BaseOffset, LastOffset: b.LastOffset(), What: what, Repair: RepairQuarantine,
	})
}

// contentFault says what is wrong with the records of a batch, "" if nothing.
func (v *verifier) contentFault(b Batch) (string, error) {
	d := &v.decoder
	if err := d.Open(b); err != nil {
		return contentReason(err)
	}
	var r Record
	for d.Next(&r) {
		if r.TimestampType == CreateTime && r.Timestamp > b.MaxTimestamp {
			return fmt.Sprintf("record %d is later than the batch's largest timestamp", r.Offset), nil
		}
		if b.Control() {
			if _, err := ParseControl(r); err != nil {
				return contentReason(err)
			}
		}
	}
	if err := d.Err(); err != nil {
		return contentReason(err)
	}
	return "", nil
}

// contentReason is the reason of damage; any other error stays one.
func contentReason(err error) (string, error) {
	var bad *CorruptError
	switch {
	case errors.As(err, &bad) && bad.Err != nil:
		return bad.Reason + ": " + bad.Err.Error(), nil
	case errors.As(err, &bad):
		return bad.Reason, nil
	case errors.Is(err, ErrCorrupt):
		return ParseReason(err), nil
	}
	return "", err
}
