# SPDX-License-Identifier: GPL-2.0
# How others meet the library: what it exports, how it is installed, how tools see it.
# For Makefile: `make outside-check` runs these tests, `make scale-stress` the one of scale.
OUTSIDE_BUILDS := $(OUT)/test_lib_batch $(OUT)/test_lib_batch-san

$(OUT)/test_lib_batch: test/test_lib_batch.cc $(LIB_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) -O2 -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib_batch-san: test/test_lib_batch.cc $(LIB_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) $(SAN) -o $@ $< $(LIB_STATIC)

outside-check: $(LIBS) $(OUTSIDE_BUILDS) $(OUT)/test_lib-O0
	+@rc=0; \
	for t in $(OUTSIDE_BUILDS); do echo "# $${t##*/}"; $$t || rc=1; done; \
	echo "# caveats"; test/caveats || rc=1; \
	echo "# symbols.sh"; test/symbols.sh $(OUT) || rc=1; \
	echo "# standards.sh"; test/standards.sh $(OUT) || rc=1; \
	echo "# errors.sh"; CC="$(CC)" CXX="$(CXX)" test/errors.sh $(OUT) || rc=1; \
	echo "# off.sh"; CC="$(CC)" CXX="$(CXX)" test/off.sh || rc=1; \
	echo "# lengths.sh"; CC="$(CC)" test/lengths.sh $(OUT) || rc=1; \
	for t in sdt tools install musl; do echo "# $$t.sh"; MAKE="$(MAKE)" test/$$t.sh || rc=1; done; \
	exit $$rc

.PHONY: outside-check

# 275,000 sites, toggled while others run through them: a part of `make stress`.
scale-stress: $(OUT)/scale
	$(OUT)/scale --no-others --rounds 20

stress: scale-stress

.PHONY: scale-stress
