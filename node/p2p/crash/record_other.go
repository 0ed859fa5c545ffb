//go:build !linux || !(amd64 || arm64)

package crash

// Main does nothing where nothing can be recorded.
func Main(map[string]func(dir string) error) {}

// Record is for Linux.
func Record(script, dir string) (*Journal, error) { return nil, ErrCannot }
