// Package profile is what a node says about itself: its ads.
//
// A [Profile] owns what no other part of the node does: the labels, the addresses, the availability that the driver
// measured, whether the disk is nearly full, and the sequence of the ads. What the other parts say of the node's load
// comes with each request for an ad, as a [Load]. [Profile.Describe] is the node as of now.
//
// When something has changed, the caller says so ([Profile.Changed]) and gets a TimerAd: at once, or a second after
// the last ad, so that what changes in between is told together. [Profile.Wake] answers that timer with the next ad,
// or with none if gossip's rule would not send it. The caller hands each ad to gossip.
//
// The labels say which class of tasks the node is reserved for and which cluster it belongs to ([SiteOf]). A node
// labelled class=auto chooses its class from the load that the ads in its view tell ([Profile.ChooseClass]).
//
// Nothing here calls its caller. Gossip is read, for the last ad and the node's coordinate, and never written.
//
// Sources:
//
//	[1] as in package balance: LPAS_DG's availability a_j, section 3.2.
package profile
