// Package ownercache remembers which nodes announced to have taken over jobs with which this node has nothing to do.
//
// It serves clients that ask this node about such a job. An announcement proves nothing, so the cache is bounded, for
// each announcer too.
package ownercache
