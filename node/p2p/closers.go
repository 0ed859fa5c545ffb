package p2p

// closers are functions to call in reverse order.
type closers []func()

// close calls each once.
func (c *closers) close() {
	for len(*c) > 0 {
		last := len(*c) - 1
		f := (*c)[last]
		*c = (*c)[:last]
		f()
	}
}
