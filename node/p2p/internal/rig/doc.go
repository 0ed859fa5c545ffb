// Package rig is what the tests of the driver and its parts share: waiting, specs, hostile members, third parties.
package rig
