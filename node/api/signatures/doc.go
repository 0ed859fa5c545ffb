// Package signatures answers what the signatures of a job prove: by package chain, in what this node keeps itself. No
// other node is asked: what it said would be its word again.
package signatures
