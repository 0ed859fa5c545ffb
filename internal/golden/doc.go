// Package golden runs test scripts with their expected output: commands, a line "----", and beneath it what they print.
//
//	# Comments and empty lines stand between the blocks.
//	connect a b
//	submit a job1
//	----
//	a -> b offer job1/0#1.1
//
// A block ends with an empty line. With the flag -update a test writes the output into the scripts anew. The format is
// that of the scripts of etcd's raft [1].
//
//	[1] https://github.com/cockroachdb/datadriven
package golden
