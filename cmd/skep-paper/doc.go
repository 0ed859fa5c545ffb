// Command skep-paper makes one HTML page, with tables and plots, out of what `skep sim paper run --output json`
// printed. It simulates nothing, so that a page can be made again without the runs behind it.
package main
