// Package bids is what a command line and a job file say of how urgent a job is.
package bids
