// Package view is jobs and their tasks as a node shows them: what it knows of each, and what it says in words about one
// that fewer nodes keep than should.
package view
