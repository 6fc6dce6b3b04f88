// Package format turns records into text and text into records: the language of
// -F, JSON lines, and plain values with delimiters.
//
// # The language
//
// A format is text in which directives stand for the parts of a record. The same
// format writes records and reads them back.
//
//	%t    topic
//	%p    partition
//	%o    offset
//	%e    leader epoch, -1 when unknown
//	%i    running number, from 1
//	%k    key                          %K    its length in bytes, -1 of null
//	%v %s value                        %V %S its length in bytes, -1 of null
//	%T    timestamp in milliseconds since 1970, -1 when there is none
//	%d    timestamp as RFC 3339 with milliseconds in local time, - when there is none
//	%d{strftime[…]}                    the same as strftime(3) writes it
//	%h    headers as a=b,c=d           %H    how many there are
//	%h{…} the format inside, for each header; %k %v %K %V mean the header's
//	%h{json}                           the headers as a JSON array
//	%% %{ %}                           these characters themselves
//	\n \r \t \0 \\ \xNN                control characters; NN is hexadecimal
//
// A directive of text (t k v s) may be followed by one of
//
//	{hex}        two hexadecimal digits a byte
//	{base64}     base64 with padding
//	{json}       a JSON value: a string, {"base64":"…"} for bytes that are not
//	             UTF-8, or null
//
// and one of a number (p o e i K V S T H, and d for milliseconds) by one of
//
//	{ascii}      decimal digits, as without it
//	{hex} {hex8} {hex16} {hex32} {hex64}
//	             hexadecimal digits; with a width exactly 2, 4, 8 or 16 of them
//	{big8} {big16} {big32} {big64} {little16} {little32} {little64}
//	             1, 2, 4 or 8 bytes, most or least significant first
//	{byte} {number}
//	             other names of big8 and ascii
//
// In a fixed width -1 is all ones. A number that does not fit its width is an error,
// never cut. Null is written as nothing, except in {json}.
//
// # Reading
//
// A field ends where the text that follows it in the format first occurs, or has the
// length that was read for it before: %K{big32}%k. A length of -1 is null, and {json}
// and %d{strftime[…]} know themselves where they end. Two fields with nothing between
// them, and a last field without an end, are refused. Where the format holds no length
// and no {json} its final text divides the input into records first, so that a line
// without a delimiter that it should have is an error and never runs into the next
// line. The final text may be missing behind the last record.
//
// The length of a field is that of its bytes, also when {hex} or {base64} make it
// longer. %h{…} needs the number of headers, %H, before it. %t, %p, %o, %e and %i are
// read and left to the caller. %d reads whatever value.ParseTime does.
//
// # Concurrency
//
// Everything that was compiled may be used by several goroutines at once; a Row and a
// Stream belong to one.
package format
