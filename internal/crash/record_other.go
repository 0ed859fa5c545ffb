//go:build !linux || !(amd64 || arm64)

package crash

// Main does nothing where nothing can be recorded.
func Main(map[string]func(dir string) error) {}

// Kill is for Linux.
func Kill(script, dir string, n int) (acked []string, err error) { return nil, ErrCannot }

// Record is for Linux.
func Record(script, dir string) (*Journal, error) { return nil, ErrCannot }
