//go:build unix

package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// otherUser is a user that no machine has by name.
const otherUser = 54321

// another is the same machine as another user, which root can become. That user's runs make their folders in one of its
// own.
func another(dir string) (place, error) {
	if os.Getuid() != 0 {
		return place{}, errors.New("only root can become another user")
	}
	home := filepath.Join(dir, "other")
	if err := os.Mkdir(home, 0o700); err != nil {
		return place{}, err
	}
	p := place{name: fmt.Sprint("user ", otherUser), start: func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := program(ctx, dir, append(args, "-dir", home)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "HOME="+home)
		return cmd
	}}
	for at := dir; at != "/"; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&1 == 0 {
			p.skip = fmt.Errorf("it cannot pass through %s: name another folder with -dir", at)
		}
	}
	return p, os.Chown(home, otherUser, otherUser)
}
