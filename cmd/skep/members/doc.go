// Package members is the commands about who is a member of a network with certificates: root key, invites, revocations.
package members
