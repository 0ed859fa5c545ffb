// Package cputime reads the CPU time of this process.
package cputime
