# pi.sh SEED estimates pi by random points in a square: the share of those inside the circle is a quarter of it. It says
# how far it is, if somebody asks.
awk -v seed="$1" 'BEGIN {
	srand(seed)
	progress = ENVIRON["SKEP_PROGRESS"]
	for (i = 0; i < 20000; i++) {
		x = rand(); y = rand()
		if (x * x + y * y < 1) inside++
		if (progress && i % 1000 == 0) { print "progress", i, 20000, "points" > progress; fflush(progress) }
	}
	printf "%.5f\n", 4 * inside / 20000
}' > pi.txt
