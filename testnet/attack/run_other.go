//go:build !linux

package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// errElsewhere is why there is nothing to attack.
var errElsewhere = errors.New("attack: there are no boxes but on Linux, so nothing is claimed that could be attacked")

// Run attacks a node. Elsewhere than on Linux nodes claim nothing.
func Run(context.Context, *Options) (*Report, error) {
	return nil, errElsewhere
}

// Members is tried on Linux.
func Members(_ context.Context, _ *Options, _ string, _ time.Duration, w io.Writer) int {
	fmt.Fprintln(w, errElsewhere)
	return 2
}
