// Package keeper is a member that keeps jobs of others and lies about them: it votes for whoever asks, and twice; it
// claims to own jobs without votes, or with its own alone; it denies what it has accepted, and answers what was never
// so; it forges ends of tasks with every signature that it can make or has seen.
//
// It signs with its own key only, and is the node of a member otherwise: what it accepts it stores, and what it is
// given it runs.
package keeper
