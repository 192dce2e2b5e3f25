# SPDX-License-Identifier: GPL-2.0
# The drawing itself; what differs from run to run is set in front of it.

set terminal svg size 1000,560 dynamic enhanced font "sans-serif,13" background "white"
set output "chart.svg"

set title "{/:Bold*1.2 ".title_text."}\n{/*0.85 ".machine_text."}\n{/*0.85 ".spectre_text."}" \
	.(strlen(warn_text) ? "\n{/:Bold ".warn_text."}" : "")
set ylabel y_text
set xrange [x_min:x_max]
set yrange [y_min:y_max]
set xtics nomirror scale 0
set ytics nomirror
set grid ytics lc rgb "#dddddd"
set border 2
set xzeroaxis lt 1 lc rgb "#000000" lw 1
set boxwidth 0.85
set style fill solid 1.0 noborder
set key outside bottom center horizontal

# How much off alone moves from round to round: what lies in it is noise.
set object 1 rectangle from graph 0, first noise_low to graph 1, first noise_high \
	behind fillcolor rgb "#e8e8e8" fillstyle solid 1.0 noborder

plot for [i=1:n_modes] "chart.dat" index i-1 using 1:2 with boxes lc rgb colours[i] title modes[i], \
	for [i=1:n_modes] "chart.dat" index i-1 using 1:3:(0):($4-$3) \
		with vectors heads size graph 0.006,90 lc rgb "#333333" lw 1 notitle, \
	for [i=1:n_modes] "chart.dat" index i-1 using 1:($4 > $2 ? $4 : $2):5 with labels offset 0,0.7 font ",11" notitle, \
	NaN with boxes lc rgb "#e8e8e8" title (noise_high > noise_low ? "range of off" : "")
