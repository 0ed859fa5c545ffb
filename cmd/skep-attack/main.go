package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"skep/testnet/attack"
)

func main() {
	var o attack.Options
	flag.StringVar(&o.Skep, "skep", "bin/skep", "the program whose nodes are attacked")
	flag.StringVar(&o.Intruder, "intruder", "bin/skep-intruder", "the program that attacks")
	flag.StringVar(&o.Environment, "environment", attack.Here(), "what the table calls the place")
	flag.StringVar(&o.Landlock, "landlock", "",
		"newest version of Landlock that the node may use, 0 for none (default what the kernel has)")
	flag.StringVar(&o.Isolation, "isolation", "",
		"what the node is told to reach: none, basic or strict (default as good as can be)")
	flag.StringVar(&o.Dir, "dir", "",
		"folder to make folders in, not below /tmp (default the home folder, /srv or /var/lib)")
	flag.BoolVar(&o.Short, "short", false, "leave out attacks that take long")
	here := flag.Bool("here", false, "one run, as this user and with these settings, in place of all environments")
	verbose := flag.Bool("v", false, "print the outcome of every attack")
	members := flag.Duration("members", 0,
		"have a member of the network attack, each of its attacks for so long, in place of tasks")
	only := flag.String("only", "", "of the members' attacks, those whose name begins so")
	full := flag.String("full", "", "file for the outcome of every attack in every environment")
	asJSON := flag.Bool("json", false, "print the report as JSON")
	flag.Parse()
	for _, path := range []*string{&o.Skep, &o.Intruder} {
		if abs, err := filepath.Abs(*path); err == nil {
			*path = abs // the programs are started in other folders
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *members > 0 {
		os.Exit(attack.Members(ctx, &o, *only, *members, os.Stdout))
	}
	if !*here {
		os.Exit(everywhere(ctx, &o, *full))
	}
	r, err := attack.Run(ctx, &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(r)
		return
	}
	r.Print(os.Stdout, *verbose)
	if bad := r.Failures(); len(bad) > 0 {
		fmt.Println("FAIL")
		os.Exit(1)
	}
}

// everywhere attacks in all environments.
func everywhere(ctx context.Context, o *attack.Options, path string) int {
	if path == "" {
		return attack.Everywhere(ctx, o, os.Stdout, nil)
	}
	f, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer f.Close()
	return attack.Everywhere(ctx, o, os.Stdout, f)
}
