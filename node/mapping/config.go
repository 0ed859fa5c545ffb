package mapping

import (
	"fmt"
	"time"
)

// Config says when events come.
type Config struct {
	// MappingInterval is the least time between two mapping events of a batch policy; default 250 ms. Higher maps more
	// tasks together, sends more of them ahead, and has a burst's tasks wait for longer.
	MappingInterval time.Duration

	// MappingCount is the number of tasks that begin an event earlier once more have come since the last; default 64.
	// Lower maps sooner in a burst, and fewer together.
	MappingCount int
}

// Defaults returns the configuration of a real node.
func Defaults() Config { return Config{MappingInterval: 250 * time.Millisecond, MappingCount: 64} }

// Check reports what is wrong.
func (c *Config) Check() error {
	if c.MappingInterval < time.Millisecond || c.MappingInterval > time.Hour || c.MappingCount < 0 {
		return fmt.Errorf("mapping interval %v, count %d: want 1ms to 1h, and 0 tasks or more", c.MappingInterval,
			c.MappingCount)
	}
	return nil
}
