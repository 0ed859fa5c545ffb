package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"skep/node/api/client"
)

// Options are what a view needs.
type Options struct {
	Client  *client.Client
	In      io.Reader
	Out     io.Writer
	Explain func(ctx context.Context, ref string) (string, error) // as skep job explain prints it
	Text    Text
}

// CheckTerminal returns an error if there is no terminal to show the view in and to read keys from.
func CheckTerminal(in io.Reader, out io.Writer) error {
	switch {
	case !isTerminal(in) || !isTerminal(out):
		return errors.New("top: needs a terminal for its input and output: for programs there are " +
			"skep node list --output json and skep job list --output json")
	case os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "":
		return fmt.Errorf("top: cannot draw on a terminal of TERM=%s: want one with cursor movement, or "+
			"skep node list and skep job list", os.Getenv("TERM"))
	}
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// Run shows the view until the user quits. The terminal is as before then.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(ctx, clientSource{o.Client, o.Explain}, o.Text, time.Now())
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out)).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}
