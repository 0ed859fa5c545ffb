package wire

import (
	"crypto/ed25519"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/requirement"
)

// signedField is the number of the first field about what is signed of a job, in each message that has one.
const signedField = 100

// offersField and offeredField are the numbers of the fields about which tasks may have been offered: of a spec, and
// the first one of an entry.
const (
	offersField  = 110
	offeredField = 240
)

// changeField is the number of the field about signed changes of members, in each message that has one.
const changeField = 200

// slack is room in a limit for fields that a later version adds.
const slack = 1024

const (
	nodeSize = 32
	jobSize  = nodeSize + 10
	blobSize = 32
	hashSize = 32
)

// The shapes of skep.proto's messages with the bounds of package grid.
var (
	ratesShape = &shape{"rates", []field{
		1: data("class", grid.MaxRates, grid.MaxClass),
		2: data("alpha", 1, 8*grid.MaxRates),
		3: data("mu", 1, 8*grid.MaxRates),
	}}
	labelShape = &shape{"label", []field{1: data("key", 1, grid.MaxLabel), 2: data("value", 1, grid.MaxLabel)}}
	adShape    = &shape{"ad", []field{
		1: data("node", 1, nodeSize), 2: number("boot"), 3: number("n"),
		4: data("name", 1, grid.MaxName),
		5: number("cpu"), 6: number("memory"), 7: number("free_cpu"), 8: number("free_memory"),
		9: number("backlog"), 10: fixed("speed"), 11: fixed("availability"),
		12: message("labels", grid.MaxLabels, labelShape),
		13: data("engines", grid.MaxEngines, grid.MaxClass),
		14: message("rates", 1, ratesShape),
		15: data("addrs", grid.MaxAddrs, grid.MaxAddr),
		16: number("draining"), 17: number("leaving"),
		18: data("coordinate", 1, 4*5), 19: number("full"), 20: number("private"), 21: number("waiting"),
		22: fixed("least_speed"), 23: fixed("bids"),
		70: data("counts", 1, grid.MaxCounts), 71: data("free_counts", 1, grid.MaxCounts),
		72: data("waits", 1, grid.MaxCounts), 90: number("price"), 91: data("accept", 1, requirement.MaxText),
		92: number("hour"), 93: number("outbid"), 235: number("away"),
	}}
	entryShape = &shape{"entry", []field{1: data("sealed", 1, int(grid.MaxAdSize)), 2: number("hops")}}

	attemptShape = &shape{"attempt", []field{
		1: data("job", 1, jobSize), 2: number("index"), 3: number("epoch"), 4: number("n"),
	}}
	fileShape = &shape{"file", []field{
		1: data("path", 1, grid.MaxPath), 2: data("blob", 1, blobSize), 3: number("size"), 4: number("exec"),
	}}
	needShape = &shape{"label need", []field{
		1: data("key", 1, grid.MaxLabel), 2: data("values", grid.MaxValues, grid.MaxLabel),
	}}
	needsShape = &shape{"needs", []field{
		1: number("cpu"), 2: number("memory"), 3: message("labels", grid.MaxLabels, needShape),
		70: data("counts", 1, grid.MaxCounts), 71: number("pin"),
		72: data("where", 1, requirement.MaxText), 73: message("options", grid.MaxOptions, optionShape),
	}}
	optionShape = &shape{"option", []field{
		1: number("cpu"), 2: number("memory"), 3: message("labels", grid.MaxOptionLabels, needShape),
		4: data("counts", 1, grid.MaxOptionCounts), 5: number("speedup"), 6: number("value"),
	}}
	pollOptionShape = &shape{"option", []field{
		1: number("cpu"), 2: number("memory"), 3: data("counts", 1, grid.MaxOptionCounts), 4: number("speedup"),
	}}
	varShape = &shape{"env", []field{
		1: data("name", 1, int(grid.MaxEnvSize)), 2: data("value", 1, int(grid.MaxEnvSize)),
	}}
	envField = field{name: "env", typ: protowire.BytesType, count: grid.MaxEnv, sub: varShape,
		size: int(grid.MaxEnvSize) + 8, total: int(grid.MaxEnvSize) + 8*grid.MaxEnv}
	specShape = &shape{"spec", []field{
		1: data("name", 1, grid.MaxName), 2: data("class", 1, grid.MaxClass), 3: data("engine", 1, grid.MaxClass),
		4: dataTotal("command", grid.MaxArgs, int(grid.MaxCommand)), 5: number("count"),
		6: message("needs", 1, needsShape),
		7: message("inputs", grid.MaxFiles, fileShape),
		8: data("outputs", grid.MaxGlobs, grid.MaxPath),
		9: envField, 10: number("timeout"), 11: number("retries"),
		12: data("policy", 1, grid.MaxClass), 13: number("wait"), 14: number("idempotent"), 15: number("network"),
		17: message("submitter", 1, submitterShape), 18: data("capability", 1, hashSize),
		sealField: data("signature", 1, ed25519.SignatureSize), arrayField: message("array", 1, arrayShape),
		40: message("on_failure", 1, onFailureShape), 41: number("max_failures"), 42: number("max_running"),
		60: number("stdin"), 70: data("workdir", 1, grid.MaxPath), 71: data("home", 1, grid.MaxPath),
		61: number("terminal"), afterField: message("after", 1, afterShape),
		gangField: number("gang_ranks"), searchField: message("gang_search", 1, scheduleSearchShape),
		bidField: number("bid"), 66: number("deadline"), 67: number("worthless"), 68: number("budget"),
		69: data("rank", 1, requirement.MaxText), 78: number("reliability"), gangMinField: number("gang_min"),
		portsField: data("gang_ports", 1, 2*grid.MaxPorts), 85: data("outer", grid.MaxOuter, grid.MaxLabel),
		signedField: number("signed"), offersField: number("records_offers"),
		secretsField: secretUsesField,
	}}
	submitterShape = &shape{"submitter", []field{1: data("node", 1, nodeSize), 2: data("user", 1, grid.MaxUser)}}
	outputShape    = &shape{"output", []field{
		1: data("inline", 1, int(grid.MaxInline)), 2: data("blob", 1, blobSize), 3: number("size"), 4: number("dropped"),
	}}
	resultShape = &shape{"result", []field{
		1: number("cause"), 2: number("exit"), 3: data("error", 1, grid.MaxText),
		4: number("waited"), 5: number("wall"), 6: number("cpu"), 7: number("max_rss"),
		8: message("stdout", 1, outputShape), 9: message("stderr", 1, outputShape),
		10: message("outputs", grid.MaxFiles, fileShape), 11: data("next", 1, grid.MaxClass),
		40: data("last_line", 1, grid.MaxFailureLine), 41: number("option"),
		signedField: data("proof", 1, grid.MaxProof),
	}}
)

// The shapes of the bodies of messages, by kind.
var (
	digestShape = &shape{"digest", []field{1: message("ads", grid.MaxAds, entryShape)}}
	byeShape    = &shape{"bye", []field{1: message("ads", 1, entryShape)}}
	pollShape   = &shape{"poll", []field{
		1: fixed("id"), 2: data("class", 1, grid.MaxClass), 3: number("cpu"), 4: number("memory"),
		5: message("rates", 1, ratesShape), 6: fixed("speed"), 7: number("cores"), 8: number("mine"), 9: number("have"),
		70: data("counts", 1, grid.MaxCounts), bidField: number("bid"), 90: number("trades"),
		91: message("options", grid.MaxOptions, pollOptionShape),
	}}
	stateShape = &shape{"state", []field{
		1: fixed("id"), 2: number("ect"), 3: number("backlog"), 4: number("free_cpu"), 5: number("free_memory"),
		6: number("why"), 7: message("rates", 1, ratesShape), 8: fixed("speed"), 9: number("cores"),
		10: number("mine"), 11: number("have"), 12: number("waiting"), 13: number("running"), 14: number("ran"),
		15: number("rest"),
		16: number("stamp"), 70: data("free_counts", 1, grid.MaxCounts),
		90: number("price"), 91: number("outbid"), 92: number("bids"),
		93: message("options", grid.MaxOptions, optionStateShape),
	}}
	optionStateShape = &shape{"option", []field{1: number("ect"), 2: number("backlog"), 3: number("why")}}
	offerShape       = &shape{"offer", []field{
		1: message("attempt", 1, attemptShape), 2: message("spec", 1, specShape), 3: data("class", 1, grid.MaxClass),
		4: number("lease"), 5: number("age"), 6: data("members", 1, nodeSize*grid.MaxMembers), 7: number("stamp"),
		8: number("stays"), 9: number("pulled"), 10: number("asks"), 11: data("barred", 1, nodeSize*grid.MaxBarred),
		60:          message("checkpoint", grid.MaxCheckpointFiles, keptFileShape),
		61:          number("before_ranks"),
		62:          data("before_shares", 1, 5*grid.MaxRanks),
		80:          message("inputs", grid.MaxJobInputs, fileShape),
		placesField: data("place_nodes", 1, nodeSize*grid.MaxRanks), placesField + 1: data("place_ranks", 1, 2*grid.MaxRanks),
		placesField + 2: data("place_shares", 1, 5*grid.MaxRanks), 93: number("option"), 95: number("changes"),
		signedField: data("assigned", 1, grid.MaxProof), evidenceField: data("evidence", 1, grid.MaxEvidence),
		changeField + 2: data("links", 1, grid.MaxLinks),
	}}
	oneShape    = attemptsShape("attempt", 1)
	manyShape   = attemptsShape("attempts", grid.MaxBeats)
	reportShape = &shape{"report", []field{
		1: number("at"), 2: number("queued"), 3: number("said"), 4: fixed("done"), 5: fixed("total"),
		6: data("text", 1, grid.MaxProgressText), 7: number("rejected"), 8: number("suspended"),
		9: number("place"), 10: number("suspensions"), 11: number("stood"), 12: data("by", 1, jobSize), 13: number("by_bid"),
		14: number("movable"), 15: number("resumes"), 16: number("ran"), 17: number("kept"),
	}}
	pricesShape = &shape{"prices", []field{
		1: fixed("cpu"), 2: fixed("memory"), 3: data("kinds", grid.MaxKinds, grid.MaxKind),
		4: data("units", 1, 8*grid.MaxKinds), 5: fixed("worth"), 6: number("left_cpu"), 7: number("left_memory"),
		8: data("left_counts", 1, grid.MaxCounts), 9: number("offers"),
	}}
	refuseShape = &shape{"refuse", []field{
		1: message("attempt", 1, attemptShape), 2: number("why"), 3: data("detail", 1, grid.MaxText),
		4: data("puller", 1, nodeSize), 80: message("prices", 1, pricesShape),
	}}
	endedShape = &shape{"result", []field{1: message("attempt", 1, attemptShape), 2: message("result", 1, resultShape)}}
	findShape  = &shape{"find", []field{
		1: fixed("id"), 2: data("asker", 1, nodeSize), 3: message("needs", 1, needsShape),
		4: data("engine", 1, grid.MaxClass),
		5: number("left"), 6: number("hops"), 7: number("within"), 8: data("visited", 1, nodeSize*grid.MaxVisited),
	}}
	searchShape = &shape{"search", []field{1: message("find", 1, findShape), 2: message("ad", 1, entryShape)}}
	finalShape  = &shape{"entry", []field{
		1: number("index"), 2: number("epoch"), 3: number("attempt_epoch"), 4: number("attempt_n"),
		5: data("worker", 1, nodeSize),
		6: number("lost"), 7: message("result", 1, resultShape), 8: number("placed"), 9: number("began"), 10: number("done"),
		40: number("round"), 41: number("again"), 42: message("failures", grid.MaxFailures, failureShape),
		43: number("retried_at"), 44: number("retry_epoch"), 45: number("used"),
		offeredField: number("offered_below"), offeredField + 1: data("offered_free", 1, spanSize*grid.MaxFree),
	}}
	finalsField = field{name: "finals", typ: protowire.BytesType, count: grid.MaxEntries, sub: finalShape,
		size: finalShape.limit(), total: max(int(grid.MaxEntriesSize), finalShape.limit())}
	membershipShape = &shape{"membership", []field{
		1: number("number"), 2: number("epoch"), 3: data("members", 1, nodeSize*grid.MaxMembers), 4: number("at"),
		5: data("extra", 1, nodeSize), 6: number("joining"), changeField: data("links", 1, grid.MaxLinks),
	}}
	registerShape = &shape{"guard", []field{
		1: data("job", 1, jobSize), 2: number("epoch"), 3: fixed("seq"), 4: number("answer"), 5: data("owner", 1, nodeSize),
		6: message("spec", 1, specShape), 7: data("members", 1, nodeSize*grid.MaxMembers), 8: number("age"),
		9:  number("done"),
		10: number("next"), 11: number("more"), 12: finalsField, 13: number("opened"), 80: number("count"),
		95:          message("set", 1, membershipShape),
		signedField: data("genesis", 1, ed25519.SignatureSize), signedField + 1: data("vote", 1, ed25519.SignatureSize),
		signedField + 2: data("mandate", 1, grid.MaxMandate), changeField: data("change", 1, ed25519.SignatureSize),
	}}
	keepaliveShape = &shape{"watch", []field{
		1: data("job", 1, jobSize), 2: number("epoch"), 3: fixed("seq"), 4: number("answer"), 5: data("owner", 1, nodeSize),
		6: number("more"), 7: number("count"), 8: fixed("sum"), 9: message("attempts", 1, manyShape),
		10: number("room"), 95: message("set", 1, membershipShape), changeField: data("change", 1, ed25519.SignatureSize),
		changeField + 1: data("mandate", 1, grid.MaxMandate),
	}}
	helloShape = &shape{"hello", []field{1: number("version"), 2: fixed("kinds"), 3: data("software", 1, grid.MaxName),
		4: number("boot"),
		5: fixed("features"), 6: fixed("instance"), 7: fixed("other"),
		8: data("known", 1, MaxKnown), 9: number("known_age")}}

	bodyShapes = [grid.Kinds]*shape{
		grid.KindDigest: digestShape, grid.KindPoll: pollShape, grid.KindState: stateShape, grid.KindOffer: offerShape,
		grid.KindAccept: oneShape, grid.KindRefuse: refuseShape, grid.KindBeat: manyShape, grid.KindDrop: manyShape,
		grid.KindResult: endedShape, grid.KindResultAck: oneShape, grid.KindAsk: manyShape, grid.KindFind: searchShape,
		grid.KindHit: searchShape, grid.KindMiss: findShape, grid.KindCall: searchShape, grid.KindBye: byeShape,
		grid.KindWrite: registerShape, grid.KindWriteAck: keepaliveShape, grid.KindCampaign: registerShape,
		grid.KindVote:      registerShape,
		grid.KindKeepalive: keepaliveShape, grid.KindKeepaliveAck: keepaliveShape, grid.KindTakeover: keepaliveShape,
		grid.KindStartLease: keepaliveShape, grid.KindStartLeaseAck: keepaliveShape, grid.KindDeposit: endedShape,
		grid.KindDepositAck: refuseShape,
		grid.KindWaiting:    pollShape, grid.KindPull: pollShape, grid.KindNoWork: pollShape,
		grid.KindAwait: registerShape, grid.KindAwaited: registerShape,
		grid.KindReserve: reserveShape, grid.KindReserveAck: reserveShape,
		grid.KindCheckpoint: checkpointShape, grid.KindCheckpointAck: checkpointShape,
		grid.KindCheckpointKeep: checkpointShape, grid.KindVacate: oneShape,
	}
)

// attemptsShape is a list of up to max attempts: their numbers take at most 2 (runs), 3 (index) and 5 bytes.
func attemptsShape(name string, max int) *shape {
	return &shape{name, []field{
		1: data("jobs", 1, jobSize*max), 2: data("runs", 1, 2*max), 3: data("index", 1, 3*max),
		4: data("epoch", 1, 5*max), 5: data("n", 1, 5*max), 50: number("started"),
		51: message("reports", grid.MaxReports, reportShape), 52: number("order"),
	}}
}
