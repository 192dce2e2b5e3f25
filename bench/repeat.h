/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same few lines for many names: JFB_REP100(m, 7) is m(700) ... m(799).
 * The argument is a token that names are made of; as a number, let it begin
 * with a digit other than 0.
 */
#ifndef JFB_REPEAT_H
#define JFB_REPEAT_H

#define JFB_REP8(m, p)	m(p##0) m(p##1) m(p##2) m(p##3)			\
			m(p##4) m(p##5) m(p##6) m(p##7)
#define JFB_REP10(m, p)	JFB_REP8(m, p) m(p##8) m(p##9)
/* The same once more: a macro cannot be repeated inside of itself. */
#define JFB_TEN(m, p)	m(p##0) m(p##1) m(p##2) m(p##3) m(p##4)		\
			m(p##5) m(p##6) m(p##7) m(p##8) m(p##9)
/* Octal: p00 to p07, p10 to p17, ... p70 to p77. */
#define JFB_REP64(m, p)							\
	JFB_REP8(m, p##0) JFB_REP8(m, p##1) JFB_REP8(m, p##2)		\
	JFB_REP8(m, p##3) JFB_REP8(m, p##4) JFB_REP8(m, p##5)		\
	JFB_REP8(m, p##6) JFB_REP8(m, p##7)
#define JFB_REP100(m, p)						\
	JFB_REP10(m, p##0) JFB_REP10(m, p##1) JFB_REP10(m, p##2)	\
	JFB_REP10(m, p##3) JFB_REP10(m, p##4) JFB_REP10(m, p##5)	\
	JFB_REP10(m, p##6) JFB_REP10(m, p##7) JFB_REP10(m, p##8)	\
	JFB_REP10(m, p##9)
#define JFB_REP1000(m, p)						\
	JFB_REP100(m, p##0) JFB_REP100(m, p##1) JFB_REP100(m, p##2)	\
	JFB_REP100(m, p##3) JFB_REP100(m, p##4) JFB_REP100(m, p##5)	\
	JFB_REP100(m, p##6) JFB_REP100(m, p##7) JFB_REP100(m, p##8)	\
	JFB_REP100(m, p##9)

#endif /* JFB_REPEAT_H */
