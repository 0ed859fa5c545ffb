// Package secret decides who gets a secret: a value of a few KiB that some nodes hold for the tasks of some jobs.
//
//	owner    sets it, names the nodes that hold it, the workers that may get it, and whose jobs may use it
//	holder   keeps it, and hands it to a worker that shows an attempt which was given to it
//	origin   of a job: names the secret in the specification that it signs
//	worker   shows the chain of signatures from that specification to the assignment (package chain)
//
// [Allow] is what the holder checks, [Handed] bounds how often an attempt gets a secret. Who is threatened by whom, and
// what is not prevented, stands in DESIGN.md. What keeps and carries secrets is package skep/node/p2p/secrets.
package secret
