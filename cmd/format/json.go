package format

import "github.com/klog-project/klog/segments"

// JSON writes a record as a JSON object and a newline. The zero value is ready.
//
//	{"topic":"t","partition":0,"offset":7,"tstype":"create","ts":1764547200000,
//	 "headers":[{"key":"a","value":"b"}],"key":null,"value":"v"}
//
// Bytes that are UTF-8 are a string, others {"base64":"…"}. A record without a
// timestamp has "tstype":"unknown" and "ts":null.
type JSON struct{}

// Append appends one record; it does not fail.
func (JSON) Append(dst []byte, src *Source, _ int64, r *segments.Record) ([]byte, error) {
	dst = appendJSONHead(dst, src, r)
	return appendJSONTail(dst, r), nil
}

// timestampHead is the part of a row between the offset and the timestamp.
func timestampHead(t segments.TimestampType) string {
	switch t {
	case segments.CreateTime:
		return `,"tstype":"create","ts":`
	case segments.LogAppendTime:
		return `,"tstype":"logappend","ts":`
	}
	return `,"tstype":"unknown","ts":`
}

// appendJSONTail writes the rest of a row, from behind the timestamp on.
func appendJSONTail(dst []byte, r *segments.Record) []byte {
	if len(r.Headers) == 0 && r.Key == nil {
		dst = append(dst, `,"headers":[],"key":null,"value":`...)
	} else {
		dst = append(dst, `,"headers":`...)
		dst = appendJSONHeaders(dst, r.Headers)
		dst = append(dst, `,"key":`...)
		dst = appendJSON(dst, r.Key)
		dst = append(dst, `,"value":`...)
	}
	dst = appendJSON(dst, r.Value)
	return append(dst, '}', '\n')
}

// appendJSONHeaders writes headers as an array of objects, in their order.
func appendJSONHeaders(dst []byte, headers []segments.Header) []byte {
	dst = append(dst, '[')
	for i := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"key":`...)
		key := headers[i].Key
		if key == nil {
			key = []byte{} // a name is never null
		}
		dst = appendJSON(dst, key)
		dst = append(dst, `,"value":`...)
		dst = appendJSON(dst, headers[i].Value)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
