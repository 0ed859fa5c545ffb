package wire

import (
	"pgregory.net/rapid"

	"skep/grid"
)

// genPrices draws the prices of a refusal.
func genPrices(t *rapid.T) *grid.Prices {
	price := rapid.Float64Range(0, grid.MaxPrice)
	p := &grid.Prices{CPU: price.Draw(t, "cpu"), Memory: price.Draw(t, "memory"), Worth: price.Draw(t, "worth"),
		Left: genResources(t), Offers: rapid.IntRange(0, grid.MaxCount).Draw(t, "offers")}
	for _, kind := range []string{"fpga", "gpu"} {
		if rapid.Bool().Draw(t, kind) {
			p.Counted = append(p.Counted, grid.UnitPrice{Kind: kind, Price: price.Draw(t, "unit")})
		}
	}
	return p
}
