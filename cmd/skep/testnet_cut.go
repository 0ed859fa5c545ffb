package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) testnetCutCmd() *cobra.Command {
	return &cobra.Command{Use: "cut NODE… ['|' NODE…]", Short: "Part the network: the two sides no longer hear each other",
		ValidArgsFunction: a.completeNet,
		Long: `Part the network: nodes on different sides of a bar no longer hear each other. Without a bar, the named nodes
are cut off from all others. There may be more than two sides; nodes on none hear all.

  skep testnet cut n1 n2 '|' n3 n4 n5
  skep testnet cut n3
  skep testnet heal`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("cut: want the names of nodes, as in n1 n2 '|' n3: see skep testnet status")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			sides := readSides(args)
			if len(sides) == 1 {
				var rest []string
				for _, n := range t.Nodes() {
					if !slices.Contains(sides[0], n.Name) {
						rest = append(rest, n.Name)
					}
				}
				sides = append(sides, rest)
			}
			if err := t.Cut(cmd.Context(), sides); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "cut: %s\n", cutText(sides))
			return nil
		}}
}

// readSides parses the names on both sides of each bar; a bar may be inside a word: "n1 n2|n3".
func readSides(args []string) (sides [][]string) {
	for _, side := range strings.Split(strings.Join(args, " "), "|") {
		sides = append(sides, strings.Fields(strings.ReplaceAll(side, ",", " ")))
	}
	return sides
}

func (a *app) testnetHealCmd() *cobra.Command {
	return &cobra.Command{Use: "heal", Short: "End cuts and slowness and let paused nodes go on", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			if err := t.Heal(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "healed")
			return nil
		}}
}
