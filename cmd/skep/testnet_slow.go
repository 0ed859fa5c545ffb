package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"skep/document"
	"skep/testnet"
)

func (a *app) testnetSlowCmd() *cobra.Command {
	var latency, loss, rate string
	cmd := a.ofNodes("slow", "Make the network slow for what nodes send",
		"Make the network slow for what nodes send, until skep testnet heal.\n\n  skep testnet slow n2 n3 --rate 64KiB",
		"is slow",
		func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error {
			s, err := readShape(latency, loss, rate)
			if err != nil {
				return err
			}
			return t.Slow(cmd.Context(), n, s)
		})
	fl := cmd.Flags()
	fl.StringVar(&latency, "latency", "0", "added to each packet, as in 40ms")
	fl.StringVar(&loss, "loss", "0", "part of the packets that is lost, as in 0.01")
	fl.StringVar(&rate, "rate", "0", "bytes a second, as in 1MiB; 0 is no bound")
	return cmd
}

// readShape parses the flags of the network's shape and reports all problems.
func readShape(latency, loss, rate string) (s testnet.Shape, err error) {
	var problems []error
	note := func(flag string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("--%s %w", flag, err))
		}
	}
	s.Latency, err = parseLatency(latency)
	note("latency", err)
	s.Loss, err = parseLoss(loss)
	note("loss", err)
	s.Rate, err = document.ParseSize(rate)
	note("rate", err)
	if len(problems) == 0 && s == (testnet.Shape{}) {
		problems = append(problems, errors.New("slow: want --latency, --loss or --rate; to end it: skep testnet heal"))
	}
	return s, errors.Join(problems...)
}
