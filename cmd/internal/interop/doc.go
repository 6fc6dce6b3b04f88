// Package interop holds no code but tests, which prove klog's files against Apache Kafka
// itself: its log dump tool reads what klog wrote, a broker recovers, indexes and serves
// klog's segments, and klog follows the log directory of a broker that runs, is killed
// and runs again.
//
// `make interop` runs them. They need java, and mvn once: Kafka's jars come from Maven
// Central and stay in the user's cache directory. A broker listens on two free ports of
// the loopback address, has half a GiB of heap, and dies with the test.
package interop
