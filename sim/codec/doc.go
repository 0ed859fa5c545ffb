// Package codec carries messages and records of a world as bytes: by package wire, as the drivers of nodes do.
//
// What a node sends and no peer would accept, or saves and could not read again, is an error. Signatures are not
// modelled: an ad is carried under a number, and a job's specification that was read is given as the one that was sent,
// which nodes share.
package codec
