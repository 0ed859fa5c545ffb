// Command skep-paper makes one HTML page, with tables and plots, out of what `skep sim paper run --output json`
// printed. It simulates nothing, and is a program of its own so that skep does not carry a plotting library
// and its fonts.
package main
