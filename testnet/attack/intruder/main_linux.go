package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"skep/testnet/attack/world"
)

// attack is one of the table.
type attack struct {
	world.Attack
	run func(*world.World) result
}

// result is how one went.
type result struct {
	state  world.State
	proof  string
	checks []world.Check
}

func won(format string, args ...any) result {
	return result{state: world.Succeeded, proof: fmt.Sprintf(format, args...)}
}

func lost(format string, args ...any) result {
	return result{state: world.Refused, proof: fmt.Sprintf(format, args...)}
}

func untried(format string, args ...any) result {
	return result{state: world.Untried, proof: fmt.Sprintf(format, args...)}
}

// by is a success unless there was an error.
func by(err error) result {
	if err != nil {
		return lost("%v", err)
	}
	return won("the kernel let it")
}

// left is what the harness has to look for.
func left(err error, checks ...world.Check) result {
	if err != nil {
		return lost("%v", err)
	}
	return result{state: world.Refused, proof: "nothing of it was there when it was over", checks: checks}
}

// table is all attacks on a world.
func table(w *world.World) []attack {
	return slices.Concat(onProcesses(w), onFiles(w), onPlaces(w), onSockets(w), onDevices(), onKernel(w), onNamespaces(w),
		onIdentity(w), onPriority(), onLeftovers(w), onSetuid(w), onBox(w), onBounds(w))
}

// attackTime bounds an attack that shares its attempt with others.
const attackTime = 10 * time.Second

func main() {
	if len(os.Args) < 2 {
		os.Exit(2)
	}
	switch role := os.Args[1]; role {
	case "sibling", "bystander":
		if err := suffer(role, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case "euid":
		fmt.Println(os.Geteuid(), os.Getegid())
		return
	case "linger":
		linger()
		return
	}
	w, err := world.Read()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	exposed = []string{w.ReadOnly, w.Writable}
	all := table(w)
	switch os.Args[1] {
	case "list":
		var list []world.Attack
		for _, a := range all {
			list = append(list, a.Attack)
		}
		err = json.NewEncoder(os.Stdout).Encode(list)
	case "run":
		err = runAll(all, os.Args[2:])
	case "one":
		err = runOne(w, all, os.Args[2])
	default:
		err = fmt.Errorf("%s: want list or run", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runAll runs attacks one after the other, each in a process of its own.
func runAll(all []attack, names []string) error {
	if len(names) == 1 && strings.HasPrefix(names[0], "@") {
		b, err := os.ReadFile(names[0][1:])
		if err != nil {
			return err
		}
		names = strings.Fields(string(b))
	}
	for _, name := range names {
		at := slices.IndexFunc(all, func(a attack) bool { return a.Name == name })
		if at < 0 {
			return fmt.Errorf("%s: no such attack", name)
		}
		ctx, stop := context.WithTimeout(context.Background(), attackTime)
		cmd := exec.CommandContext(ctx, os.Args[0], "one", name)
		cmd.WaitDelay = time.Second
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		stop()
		if line := outcomeLine(out); line != "" {
			fmt.Println(line)
			continue
		}
		o := world.Outcome{Attack: name, State: world.Refused, Proof: "it was ended: " + fmt.Sprint(err)}
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			o.State, o.Proof = world.Untried, "it said nothing"
		}
		fmt.Println(o.Line())
	}
	fmt.Println("done")
	return nil
}

func outcomeLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, world.OutcomePrefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func runOne(w *world.World, all []attack, name string) error {
	at := slices.IndexFunc(all, func(a attack) bool { return a.Name == name })
	if at < 0 {
		return fmt.Errorf("%s: no such attack", name)
	}
	r := all[at].run(w)
	o := world.Outcome{Attack: name, State: r.state, Proof: r.proof, Checks: r.checks}
	if secret := world.FindSecret([]byte(r.proof)); len(o.Proof) > 300 && secret == "" {
		o.Proof = o.Proof[:300]
	}
	fmt.Println(o.Line())
	return nil
}
