//go:build !linux

package pages

func memory() int { return 0 }

func advise([]byte) bool { return false }
