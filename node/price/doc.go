// Package price is the reserve price that a node asks, and the quote that it gives to those who poll it.
//
// A node asks a price if its own policy is one of a market with reserve prices, as cda_res: then it is an owner who
// heeds prices, and a worker who asks one. The rule is market.Reserve: what it earned of late for what it offered, less
// the policy's discount, and falling to nothing while a core is free. Nothing is paid. A price keeps a node free for
// those who bid more, for a while; a worker refuses nobody because of it: owners whose policies go by prices heed it.
package price
