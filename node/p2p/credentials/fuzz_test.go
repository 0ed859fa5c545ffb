package credentials

import (
	"net"
	"testing"
	"time"

	"skep/grid"
)

// What a stranger sends is bounded, and whatever it is, no panic.
func FuzzRespond(f *testing.F) {
	w := newWorld(new(testing.T))
	f.Add([]byte{0, 1, wantRenew})
	f.Add(append([]byte{0, redeemSize, wantRedeem}, make([]byte, redeemSize-1)...))
	f.Add([]byte{16, 1, wantMember})
	f.Fuzz(func(t *testing.T, b []byte) {
		w.t = t
		by := w.issuer()
		x, y := net.Pipe()
		go func() {
			x.Write(b)
			x.Close()
		}()
		y.SetDeadline(time.Now().Add(time.Second))
		if err := by.Respond(y, grid.NodeID{1}); err == nil {
			t.Error("a stranger is let in")
		}
		y.Close()
	})
}
