// Package credentials lets only members into a network that has certificates (package certificate): it shows this
// node's certificate to each peer and checks the peer's, before the connection carries anything else; it obtains and
// renews certificates, and, at an issuer, gives them; and it spreads revocations.
//
// The idea: the exchange is part of the security transport. Noise proves the peer's key, then both sides exchange
// certificates and revocation lists over the encrypted connection, and only then is it handed to the muxer. So libp2p
// never sees a connection of a stranger: no identify, no pubsub, no stream. Relayed connections take the same way. The
// same exchange runs on a stream whenever something has changed: a list, or this node's certificate.
//
//	initiator                                  responder
//	redeem{serial, secret} or renew   ───►     only an issuer answers; the use is on disk before
//	                                  ◄───     ok{certificate}
//	member{certificate, versions}     ───►     is it a member?
//	                                  ◄───     ok{certificate, versions}, or refused{why}; then the newer lists
//	ok, then the newer lists          ───►
//	                                  ◄───     ok or refused{why}, where lists came
//
// A frame has a length of two bytes. Before a certificate is proved a peer may send two frames of 4 KiB at most,
// the first to redeem or renew, within two seconds; afterwards its lists.
package credentials
