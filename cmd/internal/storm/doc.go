// Package storm holds tests of klog as the processes that users run: many at once,
// killed and stopped at random, on disks that are full, read-only or fail, with large
// records and small limits. It has no code of its own.
//
// Each test is short enough for `make test`. Those whose name ends in Long do the same
// for minutes and run only where KLOG_TEST_LONG is set, which `make test-long` does.
// What a test needs beside klog (root, strace, prlimit, the real log files) it asks for
// by name and is skipped without it.
package storm
