// Package session is the conversation between a client and a command that it runs beside a task: its request, its
// standard streams, the size of its terminal, and how it ended, all on one connection.
//
// The idea: one connection is one command. Its beginning starts the command, its loss kills it, and no answer is an
// end but the frame that says so. Nodes on the way copy bytes and understand none of them.
//
//	client                          node of the task
//	  Request ───────────────────────►  starts the command
//	  Input, InputEnd, Resize ───────►
//	  ◄─────────────── Stdout, Stderr, Alive
//	  ◄──────────────────────────── End   the exit code, or why there is none
//
// A frame is its kind (1 byte), the length of its content (4 bytes, big-endian), and its content. Unknown kinds are
// passed over.
package session
