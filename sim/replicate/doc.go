// Package replicate does the runs of a study on several processors. Each run has its number, and its place in the
// caller's list, whoever does it, so the results do not depend on how many work.
package replicate
