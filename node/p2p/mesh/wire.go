package mesh

import "skep/node/p2p/wire"

// Protocol is the protocol of the streams between nodes of an attempt.
const Protocol = "/skep/mesh/1"

// Request is the size of the request on such a stream, the attempt. The answer is a status of package wire; after
// StatusOK come frames in both directions: the length of a packet in two bytes, big endian, and the packet.
const Request = wire.AttemptSize

const frameHead = 2
