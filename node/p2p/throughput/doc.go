// Package throughput measures what transfers with each peer achieve together. The time in which some run is counted
// once, however many run: bytes over the sum of their times would be the throughput of one of them.
package throughput
