// Package terminal makes pseudo-terminals: a pair of files, of which a program has one as its terminal, and whoever
// plays the terminal's part has the other.
//
// Sources:
//
//	[1] pty(7), ioctl_tty(2): TIOCSPTLCK, TIOCGPTPEER, TIOCSWINSZ
package terminal
