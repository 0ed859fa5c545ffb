# Draws the tables of a sweep as one SVG picture, a curve for each file.
BEGIN { FS = ","; print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 400\" width=\"800\" height=\"400\">" }
FNR == 1 { if (NR > 1) print "\"/>"; printf "<polyline fill=\"none\" stroke=\"hsl(%d,70%%,45%%)\" points=\"", 60 * n++ }
{ printf "%.1f,%.1f ", 200 * $1, 200 - 190 * $2 }
END { if (NR > 0) print "\"/>"; print "</svg>" }
