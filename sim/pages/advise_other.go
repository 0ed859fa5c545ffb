//go:build !linux

package pages

func room() int { return 0 }

func advise([]byte) bool { return false }
