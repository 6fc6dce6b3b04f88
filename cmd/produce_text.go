package cmd

// produceText is the help of produce.
const produceText = `Reads standard input, or the files one after another, and appends each line as a record. The last line need not end with a newline, an empty line is a record with an empty value, and nothing is dropped or changed: not a CR, a NUL, invalid UTF-8 or a long line. "-" is standard input. A missing topic is created with num.partitions partitions.

A line is in the log as soon as it has come; lines that are waiting are appended together. All lines that are read at once share one timestamp.

    tail -F app.log | klog produce app
    klog produce orders -K : < pairs.txt
    klog cat -J a | klog produce -J b

A key decides the partition, by default as Kafka's Java client would have it. Records without a key go to one partition for a batch, then to the next.

With -J a row's topic, partition and offset do not count (--keep-partition obeys the partition), its key, value, headers and time do. --key, --timestamp and --header stand above what a row says; headers are added to those it has.

A record over max.message.bytes ends the run with status 1. --oversize skip leaves such records out, names each, and ends with status 8; truncate keeps as much of the value as fits; split stores the value in several records, each with the key and headers. The last two end with status 0.

When the run ends before the input does, by an error or a signal, the message says how many "records are safe", that is in the log, and where there are several partitions that "the first N records are all safe". What was read before a signal is appended, the beginning of a line in a pipe too.

Exit status 0 means that every record is in the log, and on disk:

    --sync exit      on disk at the end; meanwhile all but 64 MiB or 5 s
    --sync batch     on disk before it counts as safe and its offset is printed
    --sync 500ms     on disk within that time
    --sync never     on disk when the kernel likes

flush.messages and flush.ms of the topic add to it. KLOG_SYNC is --sync for all runs.

produce waits for other writers without limit; --lock-timeout or --timeout bound that (status 5).

--follow reads a file that grows and is rotated, each line once, and runs until a signal. It begins at the file's start. Where it stands is kept in the root, so that after an interruption, kill -9 too, it goes on exactly there. A last line without newline is waited for. When the file has been renamed, what was added to it is read first, by its inode in the same directory; a file that has become shorter is read anew. What can no longer be found is named. Of a topic with several partitions all lines go to one, that depends on the path, unless -p or keys say otherwise. A second run on the same topic and file ends with status 5.`
