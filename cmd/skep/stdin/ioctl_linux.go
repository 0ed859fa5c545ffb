package stdin

import "golang.org/x/sys/unix"

const inputSize = unix.TIOCINQ // FIONREAD: of pipes and sockets too
