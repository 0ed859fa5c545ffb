package p2p

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/blob"
	"skep/node/p2p/disk"
	"skep/node/p2p/identity"
	"skep/node/p2p/inbox"
	"skep/node/p2p/machine"
	"skep/node/p2p/reachability"
	"skep/node/p2p/runner"
	"skep/node/p2p/store"
)

// open starts all parts, beginning with the disk. Each part that must be closed registers that by onClose.
func (d *Driver) open(join *[32]byte, addrs []string) error {
	if err := d.openFolder(); err != nil {
		return err
	}
	newSecret, err := d.openIdentity(join)
	if err != nil {
		return err
	}
	if err := d.openRunner(); err != nil {
		return err
	}
	nc, err := d.nodeConfig()
	if err != nil {
		return err
	}
	if d.cfg.Recorder != nil {
		d.cfg.Recorder.Begin(nc, d.wall)
	}
	if d.node, err = d.cfg.newNode(nc, d.wall); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	d.loop = newLoop(d)
	d.registry = newRegistry(d)
	d.watchers.init()
	if err := d.restore(); err != nil {
		return err
	}
	if err := d.openNetwork(addrs); err != nil {
		return err
	}
	if err := d.askForCopies(); err != nil {
		return err
	}
	if newSecret {
		if err := identity.SaveSecret(d.cfg.DataDir, d.secret); err != nil {
			return err
		}
	}
	d.start()
	return nil
}

const blobFolder = "blobs"

// openFolder creates and locks the data folder and opens what is on disk.
func (d *Driver) openFolder() (err error) {
	dir, err := filepath.Abs(d.cfg.DataDir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	d.cfg.DataDir = dir
	if err := d.cfg.Boxes.Engine.SetFolder(dir); err != nil {
		return err
	}
	before, err := d.makeFolder(dir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if err := checkComplete(dir, before); err != nil {
		return err
	}
	if d.store, err = store.Open(dir); err != nil {
		return err
	}
	if c := d.store.Converted(); c != nil {
		d.log.Info("database converted to a new format; its copy is removed when the node is stopped in order",
			"jobs", c.Jobs, "tasks", c.Tasks, "dropped", c.Dropped, "took", c.Took.Round(time.Millisecond), "copy", c.Copy)
	}
	if f := d.store.Found(); f != (store.Damage{}) {
		d.log.Warn("the database was damaged on the disk: look at the disk and the memory of this machine", "file",
			filepath.Join(dir, store.File), "corrected", f.Corrected, "learned_anew", f.Dropped)
	}
	d.onClose(func() { d.cleanFolder(before) }) // it is locked, so what is new in it is this node's
	d.onClose(func() { d.store.Close() })
	if d.blobs, err = blob.Open(filepath.Join(dir, blobFolder), d.cfg.CacheSize); err != nil {
		return err
	}
	d.blobs.KeepFree(min(runner.DiskFloor(d.cfg.DiskLow)/2, 64*grid.MiB))
	d.blobs.OnDamage(func(b blob.Damage) { d.runner.RepairBlob(b) })
	d.onClose(func() { d.blobs.Close() })
	return nil
}

// checkComplete returns an error if a node has run in the folder and its database is missing. The database exists
// before the blob folder does, and before the network's secret, which is written last, exists beside the node's
// key. A new database would start its counts anew, and the others would take the node's messages for old ones.
func checkComplete(dir string, before []os.DirEntry) error {
	has := func(name string) bool {
		return slices.ContainsFunc(before, func(e os.DirEntry) bool { return e.Name() == name })
	}
	ran := has(blobFolder) || has(identity.KeyFile) && has(identity.SecretFile) && !has(preparedFile)
	if _, err := os.Lstat(filepath.Join(dir, store.File)); ran && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("data folder %s: a node has run here, but %s is not there: want it back, or another data folder",
			dir, store.File)
	}
	return nil
}

// makeFolder creates the data folder if it does not exist, accessible to its owner alone, and returns its entries.
// A folder that it created is removed again if Open fails.
func (d *Driver) makeFolder(dir string) (before []os.DirEntry, err error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		d.onClose(func() {
			if !d.started {
				os.RemoveAll(dir)
			}
		})
	}
	if err := disk.MakeFolder(dir, 0o700); err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
}

// cleanFolder removes what a failed Open added to the data folder.
func (d *Driver) cleanFolder(before []os.DirEntry) {
	after, err := os.ReadDir(d.cfg.DataDir)
	if d.started || err != nil {
		return
	}
	had := func(name string) bool {
		return slices.ContainsFunc(before, func(o os.DirEntry) bool { return o.Name() == name })
	}
	var added []string
	for _, e := range after {
		// A database that was there stays converted, and may need its log.
		ofDatabase := e.Name() == store.CopyFile || e.Name() == store.LogFile
		if !had(e.Name()) && !(ofDatabase && had(store.File)) {
			added = append(added, e.Name())
		}
	}
	if i := slices.Index(added, store.MarkFile); i > 0 { // remove it first: a crash must not leave it without the database
		added[0], added[i] = added[i], added[0]
	}
	for _, name := range added {
		os.RemoveAll(filepath.Join(d.cfg.DataDir, name))
	}
}

// nodeConfig returns the pure node's configuration.
func (d *Driver) nodeConfig() (node.Config, error) {
	nc := d.cfg.Node
	nc.Self, nc.Boot, nc.Name, nc.Capacity = d.self, d.boot, d.cfg.Name, d.cfg.capacity()
	nc.Signer = d.signer()
	nc.DepositQuota = min(nc.DepositQuota, d.cfg.CacheSize/2)
	nc.Retention.Gaps = d.retentionGaps()
	nc.Known = reachability.CountSaved(d.work.Context(), d.store.Datastore())
	if !grid.Printable(nc.Name) {
		return nc, fmt.Errorf("name %q: want printable text", nc.Name)
	}
	nc.Name = d.cfg.name()
	if nc.Seed == 0 {
		nc.Seed = rand.Uint64()
	}
	level, _ := d.runner.Isolation()
	nc.Private, nc.Durable = d.runner.Private() || !d.mayRun(), d.cfg.Boxes.Engine.Elsewhere()
	exposed, problems, err := d.cfg.Boxes.Labels(os.Geteuid() == 0)
	if err == nil {
		nc.Accept, err = d.cfg.Boxes.Engine.Accept(nc.Accept)
	}
	if err != nil {
		return nc, err
	}
	for _, p := range problems {
		d.log.Warn(p.Error())
	}
	switch {
	case nc.Durable:
		exposed = append(exposed, d.cfg.Boxes.Engine.Labels()...)
	case nc.Order.LeastSpeed > 0:
		d.log.Info("no gangs and no tasks with processors of their own can run here", "reason", "its tasks share the cores")
	default:
		exposed = append(exposed, d.gangNetworks()...)
	}
	exposed = append(exposed, d.secretLabels()...)
	if nc.Labels, err = machine.Labels(d.cfg.Version, level, d.canPin(), exposed, d.cfg.Labels); err != nil {
		return nc, err
	}
	nc.Engines = []string{grid.EngineProcess}
	if nc.Speed == 0 {
		nc.Speed, err = machine.Speed(d.work.Context(), d.store.Datastore())
	}
	return nc, err
}

// start starts all goroutines and handlers. Nothing can fail any more.
func (d *Driver) start() {
	d.started = true
	d.work.Go(d.loop.run)
	in := inbox.New()
	in.Event.Kind = grid.EvStart
	d.inbox.Post(d.work.Context(), in)
	d.transport.Start()
	d.reach.Start()
	if d.keeper != nil {
		d.work.Go(func() { d.keeper.Run(d.work.Context(), others{otherNodes{d}}) })
	}
	d.work.Go(d.watchMachine)
	gaps := d.gaps()
	d.work.Go(func() { machine.WatchRun(d.work.Context(), d.cfg.DataDir, d.wall, gaps) })
	if x := d.cfg.Node.Accept; x != nil && x.AsksTime() {
		d.work.Go(d.watchHour)
	}
	d.work.Go(d.warnUnchecked)
	d.log.Info("node runs", "node", d.self.String(), "network", d.Network(), "boot", d.boot, "addrs",
		d.Addrs())
}
