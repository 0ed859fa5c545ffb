// Queue runs a queueing system as skep sim queue does, and links no more of Skep than that.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"skep/sim/queueing"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, policies []string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	system, err := queueing.Read(file, b)
	if err != nil {
		return err
	}
	r, err := queueing.Run(context.Background(), system,
		queueing.Options{Policies: policies, Time: 2000, Replications: 4, Seed: 1})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
