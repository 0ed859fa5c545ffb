package client

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Names in a node's data folder.
const (
	SocketName      = "api.sock"
	TokenName       = "api.token"
	CertificateName = "api.pem"    // key and certificate of the listener for other machines
	RemoteName      = "api.remote" // the Remote of this node, while it listens
)

// maxSocket is the longest path that every system accepts as a socket's address.
const maxSocket = 100

// SocketAddr returns the address of the socket in a data folder, and a function to call when it has been used. A
// path that is too long for an address is reached through the open folder where the system supports it.
func SocketAddr(dir string) (addr string, release func(), err error) {
	addr = filepath.Join(dir, SocketName)
	if len(addr) <= maxSocket {
		return addr, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("data folder %s: its path is %d bytes long: want at most %d for the socket in it",
			dir, len(dir), maxSocket-len(SocketName)-1)
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), SocketName), func() { f.Close() }, nil
}
