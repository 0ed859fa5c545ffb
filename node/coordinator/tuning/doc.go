// Package tuning is how a coordinator behaves: what a real node, a simulated one and a test set differently.
package tuning
