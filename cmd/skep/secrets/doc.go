// Package secrets has the verbs about secrets, and what flags and job files say of those that tasks get. A value is
// read from the standard input and printed nowhere.
package secrets
