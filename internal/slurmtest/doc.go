// Package slurmtest starts a cluster of Slurm for a test: one controller and one compute node on this machine, on free
// ports, with all that they keep in a temporary folder. It needs the programs of Debian's slurm-wlm and munge, and
// root, as which a compute node runs jobs; tests are skipped without.
//
// There is no accounting database, no control group and no Slurm daemon of the machine: what is there is left alone.
package slurmtest
