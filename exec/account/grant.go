package account

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// Grant lets tasks of some submitters run as an account of this machine. The zero Grant is none.
type Grant struct {
	As  string       // a name, or UID/GID
	For []Submitters // the same wherever the account is granted
}

// Submitters are those of a user's name, of one node or of any.
type Submitters struct {
	User string      // "*" = whoever it is
	Node grid.NodeID // zero = any
}

// IDs are what the kernel knows an account by. The zero IDs are the node's own.
type IDs struct{ User, Group uint32 }

// Add takes as=USER or for=NAME[@NODE], where NAME may be * and NODE is the ID of a node.
func (g *Grant) Add(word string) error {
	key, value, _ := strings.Cut(word, "=")
	switch {
	case key == "as" && value != "" && g.As == "":
		g.As = value
		return nil
	case key == "for" && value != "":
		by, err := parse(value)
		g.For = append(g.For, by)
		return err
	}
	return fmt.Errorf("%q: want once ro or rw, once as=USER, and for=NAME or for=NAME@NODE", word)
}

func parse(text string) (by Submitters, err error) {
	name, node, found := strings.Cut(text, "@")
	if by.User = name; name == "" {
		return by, fmt.Errorf("for=%s: want NAME or NAME@NODE", text)
	}
	if found {
		if by.Node, err = grid.ParseNodeID(node); err != nil {
			return by, fmt.Errorf("for=%s: %w", text, err)
		}
	}
	return by, nil
}

// Check reports a grant that is half said.
func (g *Grant) Check() error {
	if (g.As == "") != (len(g.For) == 0) {
		return errors.New("want both the user that tasks run as and the submitters that may have such: as=USER:for=NAME, " +
			"and for=* if everybody may")
	}
	return nil
}

// Words are those that Add took, the account first.
func (g *Grant) Words() (words []string) {
	if g.As != "" {
		words = append(words, "as="+g.As)
	}
	for _, by := range g.For {
		word := "for=" + by.User
		if !by.Node.IsZero() {
			word += "@" + by.Node.String()
		}
		words = append(words, word)
	}
	return words
}

// Admits reports whether tasks of a submitter may run as the account; where there is none all may.
func (g *Grant) Admits(by *grid.Submitter) bool {
	return g.As == "" || slices.ContainsFunc(g.For, func(s Submitters) bool {
		// what a node says of its users may be anything, also NAME@NODE of another
		return (s.User == "*" || s.User == by.User) && (s.Node.IsZero() || s.Node == by.Node)
	})
}

// IDs returns those of the account; the zero ones where there is none.
func (g *Grant) IDs() (IDs, error) {
	if g.As == "" {
		return IDs{}, nil
	}
	uid, gid, found := strings.Cut(g.As, "/")
	if !found {
		u, err := user.Lookup(g.As)
		if err != nil {
			return IDs{}, fmt.Errorf("/etc/passwd has no user %s: want one that is there, or UID/GID", g.As)
		}
		uid, gid = u.Uid, u.Gid
	}
	id, err1 := strconv.ParseUint(uid, 10, 31)
	group, err2 := strconv.ParseUint(gid, 10, 31)
	switch {
	case err1 != nil || err2 != nil || id == 0 || group == 0:
		return IDs{}, fmt.Errorf("as=%s: want a user and a group, and neither may be root's", g.As)
	case os.Geteuid() != 0:
		return IDs{}, errors.New("only a node that runs as root can give tasks a user: want skep up as root, or it without " +
			"as and for")
	}
	return IDs{uint32(id), uint32(group)}, nil
}
