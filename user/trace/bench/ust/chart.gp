# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Bars of what an event costs: gnuplot -e 'csv="..."; svg="..."; threads=N'
set terminal svg size 1100,560 font "sans-serif,13" background "white" noenhanced
set output svg
set datafile separator ","
set datafile missing ""

# Okabe and Ito's colours: readers with any colour vision tell them apart.
blue = 0x0072b2; sky = 0x56b4e9

set title "An event of two arguments: min of all runs, in ns (logarithmic)"
set style fill solid 0.9 border -1
set logscale x
set format x "%g"
set xrange [0.1:4000]
set xlabel "ns"
set grid xtics lc rgb 0xdddddd
set border 3
set tics nomirror scale 0.5
set key top right reverse Left samplen 1.5
# One row for each state of each contender, from top to bottom; a pair of bars in each.
rows = int(system(sprintf("grep -c . '%s'", csv))) - 1
set yrange [rows - 0.4:-0.6]
set lmargin 38
label(name, state) = name . (strlen(state) ? ", " . state : "")
plot csv every ::1 using (0.1):($0 - 0.18):(0.1):3:($0 - 0.36):($0):ytic(label(strcol(1), strcol(2))) \
		with boxxyerror lc rgb blue title "1 thread", \
     csv every ::1 using (0.1):($0 + 0.18):(0.1):5:($0):($0 + 0.36) with boxxyerror lc rgb sky title sprintf("%d threads", threads), \
     csv every ::1 using ($3 * 1.1):($0 - 0.16):(sprintf("%.3g", $3)) with labels left font ",10" notitle, \
     csv every ::1 using ($5 * 1.1):($0 + 0.2):(sprintf("%.3g", $5)) with labels left font ",10" notitle
