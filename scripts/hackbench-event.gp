# SPDX-License-Identifier: GPL-2.0
# Two panels: what an event costs by the instruction clock, and on a real CPU.  What differs from
# run to run is set in front of it.

set terminal svg size 1000,560 dynamic enhanced font "sans-serif,13" background "white"
set output "chart.svg"

set multiplot layout 1,2 margins 0.07,0.985,0.175,0.74 spacing 0.085 \
	title "{/:Bold*1.35 ".title_text."}\n{/*0.95 ".below_text."}\n{/*0.8 ".machine_text."}\n{/*0.8 ".native_text."}"
set xrange [x_min:x_max]
set xlabel "subscribers of the event"
set xtics nomirror scale 0
set ytics nomirror
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb "#888888"
set boxwidth 0.92
set style fill solid 1.0 noborder

# The legend, below both panels.
unset key
do for [i=1:n_modes] {
	legend_x = 0.5 + (i - 1 - n_modes / 2.0) * 0.243
	set object i rectangle from screen legend_x, 0.022 to screen legend_x + 0.022, 0.05 \
		fillcolor rgb colours[i] fillstyle solid 1.0 noborder
	set label i modes[i] at screen legend_x + 0.03, 0.036 left font ",11"
}

set title left_text
set yrange [left_min:left_max]
plot for [i=1:n_modes] "chart.dat" index i-1 using 1:2 with boxes lc rgb colours[i], \
	for [i=1:n_modes] "chart.dat" index i-1 using 1:2:4 with labels offset 0,0.7 font ",10"

set title right_text
set yrange [0:right_max]
unset object
unset label
plot for [i=1:n_modes] "chart.dat" index i-1 using 1:3 with boxes lc rgb colours[i], \
	for [i=1:n_modes] "chart.dat" index i-1 using 1:3:5 with labels offset 0,0.7 font ",10"
unset multiplot
