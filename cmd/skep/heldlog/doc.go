// Package heldlog holds back what a node logs while it starts: if it fails to start, its error is all that is said.
package heldlog
