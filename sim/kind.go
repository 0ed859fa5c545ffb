package sim

// Kind is the kind of an event of the world.
type Kind uint8

const (
	kindNone Kind = iota
)
