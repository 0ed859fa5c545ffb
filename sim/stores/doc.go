// Package stores models what becomes of the stores of a world's nodes besides that they are written: copies of them are
// taken and put back later, and nodes tell each other how far they have saved, so that this is found out.
//
// A store that was put back is found out only where somebody has heard later news. So what must hold of its node is no
// more than that ([Stores.Meet], [Stores.Check]):
//
//   - it stops when it meets a node that has heard of more than the store has, and a node whose store lacks nothing
//     does not;
//   - no node that has started again promises anything in a register before, with itself, a majority of its members has
//     told what it knows, and none acts on what it alone keeps before others had time to tell.
//
// A node that has done all of that and met nobody who knew may go on. What becomes of its jobs then nobody promises.
//
// The statements are those of package generation. Signatures are not modelled: a node sends its own statement only.
package stores
