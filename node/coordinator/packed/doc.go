// Package packed is the compact form of jobs that are over. They are kept for long and seldom read; packed, one takes a
// tenth of the memory of a job that can still change. A job is written with its tasks one after another ([Writer]) and
// read the same way ([Tasks]), so a summary costs no more for a job of many tasks.
package packed
