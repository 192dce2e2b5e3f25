# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# One page of charts from bench's CSV: gnuplot -e 'csv="..."; svg="..."; title="..."'
set terminal svg size 1280,1450 font "sans-serif,13" background "white"
set output svg
set datafile separator ","
set datafile commentschars "#"
set datafile missing "NaN"

# Okabe and Ito's colours: readers with any colour vision tell them apart.
blue = 0x0072b2; orange = 0xe69f00; green = 0x009e73; red = 0xd55e00; sky = 0x56b4e9

set multiplot layout 3,2 title title font ",14" offset 0,-0.3 margins 0.07,0.98,0.06,0.945 spacing 0.09,0.085
set style fill solid 0.9 border -1
set style data histogram
set style histogram clustered gap 1
set boxwidth 0.9
set grid ytics lc rgb 0xdddddd
set tics nomirror scale 0.5
set border 3
set key top left reverse Left samplen 1.5

group(g, layout) = sprintf("< awk -F, -v OFS=, '$1==\"%s\" && $2==\"%s\" {sub(/array-/, \"\", $3); print}' \"%s\"", g, layout, csv)

set logscale y
set title "One event with N subscribers, 64 sites"
set ylabel "ns per event, minimum"
set xlabel "N"
set style data linespoints
set yrange [0.5:200]
set xrange [0.9:9]
set logscale x 2
set xtics (1, 2, 4, 8) font ",13"
sub(shape) = sprintf("< awk -F, '$1==\"subscribers\" && $2==\"64\" && $3==\"%s\"' \"%s\"", shape, csv)
plot sub("array-retpoline") using 4:5 title "array, retpolined" lw 2 pt 7 lc rgb red, \
     sub("array-plain") using 4:5 title "array, plain indirect" lw 2 pt 5 lc rgb orange, \
     sub("chain") using 4:5 title "jumpfunc tracepoint" lw 2 pt 9 lc rgb blue, \
     sub("direct") using 4:5 with points title "direct call of the probe" pt 13 ps 1.4 lc rgb green

unset logscale
unset xlabel
set title "Retargeting S sites, a peer running"
set xlabel "S"
set style data linespoints
set logscale xy
set xrange [0.8:2000]
set xtics (1, 10, 100, 1000) font ",13"
if (int(system(sprintf("grep -c '^update' \"%s\" || :", csv))) > 0) {
	set ylabel "median, microseconds"
	set yrange [*:*]
	set format y "10^{%L}"
	# With a running peer, where there was one.
	most = system(sprintf("awk -F, '$1==\"update\" && $2>m {m=$2} END {print m+0}' \"%s\"", csv))
	updates(how) = sprintf("< awk -F, '$1==\"update\" && $2==%s && $3==\"%s\"' \"%s\"", most, how, csv)
	plot updates("single") using 4:($6/1e3) title "one by one" lw 2 pt 7 lc rgb red, \
	     updates("batch") using 4:($6/1e3) title "one transaction" lw 2 pt 9 lc rgb blue
} else {
	unset ylabel
	unset ytics
	set yrange [1:10]
	set label 1 "not measured" at graph 0.5, 0.5 center
	plot NaN notitle
}

unset label 1
unset logscale
unset xlabel
set style data histogram
set xrange [*:*]
set xtics autofreq font ",10" rotate by -25
set format y "%g"
set ytics nomirror
set key top left
set ylabel "ns per site"
set yrange [-0.05:*]
set title "Sites that are off, 64 in a line"
plot group("branch", "64") using 5:xtic(3) title "minimum" lc rgb sky, \
     group("branch", "64") using 6 title "median" lc rgb blue

set title "The same, what they load flushed from the caches"
set yrange [0:*]
plot group("branch-cold", "64") using 5:xtic(3) title "minimum" lc rgb sky, \
     group("branch-cold", "64") using 6 title "median" lc rgb blue

set title "A call, by kind of dispatch"
set ylabel "ns per call"
plot group("call", "64") using 5:xtic(3) title "64 in a line, minimum" lc rgb sky, \
     group("call", "1K") using 5 title "1024 in random order, minimum" lc rgb orange

set title "A program of 276,001 sites: a change of S of them"
set style data linespoints
set xlabel "S"
set logscale xy
set xrange [0.8:500000]
set xtics (1, 10, 100, 1000, "10k" 10000, "100k" 100000, "275k" 275000) norotate
if (int(system(sprintf("grep -c '^scale.*jumpfunc' \"%s\" || :", csv))) > 0) {
	set ylabel "median, microseconds"
	set yrange [*:*]
	set format y "10^{%L}"
	peers = system(sprintf("awk -F, '$1==\"scale\" && $2>m {m=$2} END {print m+0}' \"%s\"", csv))
	way(p, how) = sprintf("< awk -F, '$1==\"scale\" && $2==%s && $3==\"%s\"' \"%s\"", p, how, csv)
	plot way(peers, "jumpfunc") using 4:($6/1e3) title "jumpfunc, a thread running through them" lw 2 pt 9 lc rgb blue, \
	     way("0", "jumpfunc") using 4:($6/1e3) title "jumpfunc, alone" lw 2 pt 8 lc rgb sky, \
	     way("0", "semi-static") using 4:($6/1e3) title "semi-static's way, alone" lw 2 pt 7 lc rgb orange, \
	     way("0", "static-keys") using 4:($6/1e3) title "static-keys' way, alone" lw 2 pt 5 lc rgb red
} else {
	unset ylabel
	unset ytics
	set yrange [1:10]
	set label 1 "not measured" at graph 0.5, 0.5 center
	plot NaN notitle
}
unset multiplot
