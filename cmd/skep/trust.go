package main

import (
	"fmt"
	"log/slog"
	"os/user"

	"skep/exec/process"
)

// trust says plainly whom the owner of this node trusts with what.
func (a *app) trust(taskUser string, log *slog.Logger) {
	as := taskUser
	if as == "" {
		as = "this user"
		if u, err := user.Current(); err == nil {
			as = u.Username
		}
	}
	fmt.Fprintf(a.err, "Members of this network can run programs on this machine as %s.\n", as)
	runner, err := process.New(process.Options{User: taskUser})
	if err != nil {
		log.Debug("confinement", "err", err)
		return
	}
	defer runner.Close()
	if ok, how := runner.Confined(); ok {
		fmt.Fprintf(a.err, "Tasks are kept out of the data folder by %s.\n", how)
	} else {
		fmt.Fprintf(a.err, "Tasks are NOT kept out of the data folder: %s.\n", how)
	}
}
