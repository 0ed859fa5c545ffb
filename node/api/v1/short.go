package v1

// Short returns the beginning of an ID, by which people name it.
func Short(id string) string { return id[:min(len(id), 8)] }
