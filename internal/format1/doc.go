// Package format1 is for tests. It writes databases of store format 1, in which a job that its origin alone kept had no
// register: its record had kind 1 and those of its tasks kind 2.
package format1
