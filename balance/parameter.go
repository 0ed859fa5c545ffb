package balance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skep/balance/market"
	"skep/balance/utility"
	"skep/grid"
)

// parameter reads what stands after the colon.
func (c *Config) parameter(base, param string) error {
	switch base {
	case "kpb", "kpb_ceil":
		if part, ok := strings.CutSuffix(param, "%"); ok {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil || !(x > 0 && x <= 100) {
				return errors.New("want a percentage of the machines after the colon, above 0 and at most 100, as in 20%")
			}
			c.KPBPart = x / 100
			return nil
		}
		if base == "kpb_ceil" {
			return errors.New("want a percentage of the machines after the colon, as in 20%")
		}
		n, err := strconv.Atoi(param)
		if err != nil || n < 1 || strconv.Itoa(n) != param {
			return errors.New("want a number of machines after the colon, 1 or more")
		}
		c.KPB = n
	case "guided_lpas", "guided_lpas_2k":
		x, err := strconv.ParseFloat(param, 64)
		if err != nil || !(x > 0 && x <= 1e9) {
			return errors.New("want the constant C after the colon, above 0, as in 1.5")
		}
		c.Guide = x
	case "switching":
		low, high, _ := strings.Cut(param, "-")
		lo, err := strconv.ParseFloat(low, 64)
		hi, err2 := strconv.ParseFloat(high, 64)
		if err != nil || err2 != nil || !(lo >= 0 && lo <= hi && hi > 0 && hi <= 1) {
			return errors.New("want LOW-HIGH after the colon, from 0 to 1, as in 0.6-0.9")
		}
		c.SwitchLow, c.SwitchHigh = lo, hi
	case "min_min", "max_min", "sufferage", "xsufferage", "qos_min_min", "dfpltf":
		x, err := strconv.ParseFloat(param, 64)
		if err != nil || !(x > 0 && x <= 1e9) {
			return errors.New("want the time of ageing in seconds after the colon, above 0, as in 600")
		}
		c.Ageing = x
	case "workqueue":
		if param != "1" && param != "2" {
			return errors.New("want 1 or 2 after the colon: how many copies of a task may run at once")
		}
		c.Copies = int(param[0] - '0')
	case utility.PolicyName:
		if _, err := utility.Parse(param); err != nil {
			return fmt.Errorf("utility %w", err)
		}
		c.Utility = param
	case "cb_rr", "cb_frr":
		if c.Pointer = Pointer(param); c.Pointer != PointerPast && c.Pointer != PointerClass {
			return errors.New("want past or class after the colon")
		}
	default:
		if slices.Contains(traders, base) {
			return c.setRow(base, param)
		}
		return fmt.Errorf("%s takes no parameter", base)
	}
	return nil
}

// setRow reads the parameter of a row.
func (c *Config) setRow(base, param string) error {
	row, err := market.Parse(base + ":" + param)
	switch {
	case market.Wants(base) == "":
		return fmt.Errorf("%s takes no parameter", base)
	case row.Interval > 0 && (err != nil || row.Interval < minTick || row.Interval > maxTick):
		return fmt.Errorf("want the seconds between auctions after the colon, from %g to %g", minTick, maxTick)
	case err != nil:
		return fmt.Errorf("want %s after the colon", market.Wants(base))
	}
	c.Row = base + ":" + param
	return nil
}

// Movement is how tasks that have started move to other nodes under a policy.
type Movement struct {
	Most    uint8 // moves of a task
	Running bool  // also of one that is not suspended (protocol PE-A)

	// Outbid is how many times its bid that of a task must be that moves to where another one runs (PE-T); 0 = it goes
	// there as soon as there is room for it.
	Outbid float64
}

// Moves returns how tasks move under a policy. Without a budget tasks under PE-A move 8 to 38 times each.
func Moves(policy string) Movement {
	p, err := market.Parse(policy)
	switch {
	case err != nil || !p.Migrates || !Trades(policy):
	case p.Active:
		return Movement{Most: uint8(min(cmp.Or(p.Moves, grid.MaxTaskMoves), grid.MaxTaskMoves)), Running: true}
	case p.Outbid > 1:
		return Movement{Most: usualMoves, Outbid: p.Outbid}
	}
	return Movement{Most: usualMoves}
}

// usualMoves is how often a suspended task moves at most: as often as one is taken from a queue.
const usualMoves = 3
