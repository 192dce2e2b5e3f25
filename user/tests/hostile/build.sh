#!/bin/sh
# build.sh OUT name...: quick builds
OUT=$1; shift
T=$(cd "$(dirname "$0")/../../.."; pwd)
for n; do
 for f in $T/user/tests/hostile/$n.plugin*.c; do [ -f "$f" ] || continue
  b=$(basename $f .c); gcc -O2 -g -Wall -Wextra -I$T/include -fPIC -shared -o $OUT/$b.so $f -L$T/build/user -ljumpfunc -Wl,-rpath,$T/build/user -pthread || exit 1; done
 s=$T/user/tests/hostile/$n.c; c=gcc
 [ -f $s ] || { s=$T/user/tests/hostile/$n.cpp; c="g++ -std=c++17"; }
 $c -O2 -g -Wall -Wextra -I$T/include -o $OUT/$n $s -L$T/build/user -Wl,--no-as-needed -ljumpfunc -Wl,-rpath,$T/build/user -pthread -ldl $EXTRA || exit 1
done
