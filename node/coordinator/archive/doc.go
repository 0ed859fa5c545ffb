// Package archive is a list of the jobs that are over, oldest end first, from which any is found and removed quickly.
// It knows of a job what [Job] says, as [Entry] does: whoever keeps the list packs its jobs, and unpacks them, in
// place.
package archive
