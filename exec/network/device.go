package network

import "errors"

// ErrDropped is the error of a write of which the kernel took nothing; the device goes on.
var ErrDropped = errors.New("the kernel dropped a packet")
