// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
// Functions of C++ whose names are not plain: name spaces, templates, operators, lambdas,
// constructors. Each is called as often as its test says.
#include <cstdio>
#include <map>
#include <string>

#define KEEP __attribute__((__noinline__, __used__))
// Else calls of pure functions become one.
#define EFFECT __asm__ volatile("" : : : "memory")

namespace shop {

struct Order {
	int	price;
	KEEP explicit Order(int p) : price(p) { EFFECT; }
	KEEP bool operator<(const Order &other) const { EFFECT; return price < other.price; }
	KEEP Order operator+(int more) const { EFFECT; return Order(price + more); }
	KEEP int operator()(int n) const { EFFECT; return price * n; }
	KEEP operator unsigned long() const { EFFECT; return static_cast<unsigned long>(price); }
};

KEEP int price_of(const Order &o) { EFFECT; return o.price; }
KEEP int price_of(const Order &o, int n) { EFFECT; return o.price * n; }
template <class T> KEEP T twice(T v) { EFFECT; return v + v; }
template <class K, class V> KEEP std::size_t entries(const std::map<K, V> &m) { EFFECT; return m.size(); }

} // namespace shop

namespace {

KEEP int hidden(int v) { EFFECT; return v + 1; }

} // namespace

int main()
{
	std::map<int, std::string> m;
	shop::Order a(3), b = a + 4;
	auto lambda = [](int v) KEEP { EFFECT; return v + 2; };
	long sum = 0;

	m[1] = "one";
	for (int i = 0; i < 3; i++)
		sum += shop::price_of(a);
	sum += shop::price_of(b, 2) + (a < b) + b(2) + static_cast<long>(static_cast<unsigned long>(a));
	sum += shop::twice(4) + static_cast<long>(shop::twice(4.0)) + static_cast<long>(shop::entries(m)) + hidden(1) + lambda(2);
	std::printf("%ld\n", sum);
	return 0;
}
