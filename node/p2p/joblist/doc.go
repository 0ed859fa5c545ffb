// Package joblist is the stream on which nodes tell each other of the jobs in their registers, and the question to all
// of them at once. What is told and how answers are put together is package listing.
//
// A node tells every member the same: what listing.Row has. However many ask, it reads its registers for at most a
// fiftieth of the time, so that an answer may be as much as a second old where there are many jobs, and keeps the
// newest 10,000 of that. Who asks is bounded by the seats of the service: 8 answers to a peer and 64 in all within half
// a second; whoever gets no seat is told so, and asks again.
//
// A question goes to the nodes that are connected, and to those of the view that are not and can be dialled: 256 at
// once, 512 in all. One that is connected has a second, one that has to be dialled two, which is the bound of the whole
// question. What has come by then is the answer, with the nodes that did not answer. An answer has at most 1,000 jobs
// and 512 KiB; one that is malformed is an offence.
package joblist
